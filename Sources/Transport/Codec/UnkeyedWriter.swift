/// Writes the elements of an unkeyed container, one after the other.
struct UnkeyedWriter: UnkeyedEncodingContainer {
    let session: EncodingSession
    let node: Int

    var codingPath: [any CodingKey] { session.tape.codingPath(of: node) }
    var count: Int { session.tape.nodes[node].count }

    func encodeNil() throws { try write(WireNull()) }
    func encode(_ value: Bool) throws { try write(value) }
    func encode(_ value: String) throws { try write(value) }
    func encode(_ value: Double) throws { try write(value) }
    func encode(_ value: Float) throws { try write(value) }
    func encode(_ value: Int) throws { try write(value) }
    func encode(_ value: Int8) throws { try write(value) }
    func encode(_ value: Int16) throws { try write(value) }
    func encode(_ value: Int32) throws { try write(value) }
    func encode(_ value: Int64) throws { try write(value) }
    func encode(_ value: UInt) throws { try write(value) }
    func encode(_ value: UInt8) throws { try write(value) }
    func encode(_ value: UInt16) throws { try write(value) }
    func encode(_ value: UInt32) throws { try write(value) }
    func encode(_ value: UInt64) throws { try write(value) }

    func encode<T: Encodable>(_ value: T) throws {
        let label = try session.tape.writeElement(to: node)
        try session.write(value, to: node, label: label)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }

    private func write(_ value: some WirePrimitive) throws {
        try session.tape.writeElement(value, to: node)
    }

    /// An error cannot leave here; the tape keeps it, and the next write or the end of the encode throws it.
    private func nested() -> WireEncoder {
        let label = (try? session.tape.writeElement(to: node)) ?? .root
        return WireEncoder(session: session, node: session.tape.addChild(of: node, label: label))
    }
}
