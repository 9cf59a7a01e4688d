/// Writes the elements of an unkeyed container, one after the other.
struct UnkeyedWriter: UnkeyedEncodingContainer {
    let session: EncodingSession
    let node: UInt32

    var codingPath: [any CodingKey] { session.tape.pointee.codingPath(of: node) }
    var count: Int { Int(session.tape.pointee.nodes[Int(node)].count) }

    func encodeNil() throws { try write(.null) }
    func encode(_ value: Bool) throws { try write(WireScalar(value)) }
    func encode(_ value: String) throws { try session.tape.pointee.writeElement(value, to: node) }
    func encode(_ value: Double) throws { try write(WireScalar(value)) }
    func encode(_ value: Float) throws { try write(WireScalar(value)) }
    func encode(_ value: Int) throws { try write(WireScalar(value)) }
    func encode(_ value: Int8) throws { try write(WireScalar(value)) }
    func encode(_ value: Int16) throws { try write(WireScalar(value)) }
    func encode(_ value: Int32) throws { try write(WireScalar(value)) }
    func encode(_ value: Int64) throws { try write(WireScalar(value)) }
    func encode(_ value: UInt) throws { try write(WireScalar(value)) }
    func encode(_ value: UInt8) throws { try write(WireScalar(value)) }
    func encode(_ value: UInt16) throws { try write(WireScalar(value)) }
    func encode(_ value: UInt32) throws { try write(WireScalar(value)) }
    func encode(_ value: UInt64) throws { try write(WireScalar(value)) }

    func encode<T: Encodable>(_ value: T) throws {
        let label = try session.tape.pointee.beginElement(in: node)
        try session.write(value, to: node, label: label)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }

    private func write(_ value: WireScalar) throws {
        try session.tape.pointee.writeElement(value, to: node)
    }

    /// An error cannot leave here; the tape keeps it, and the next write or the end of the encode throws it.
    private func nested() -> WireEncoder {
        let label = (try? session.tape.pointee.beginElement(in: node)) ?? .root
        return WireEncoder(session: session, node: session.tape.pointee.addChild(of: node, label: label))
    }
}
