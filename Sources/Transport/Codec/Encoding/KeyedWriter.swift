/// Writes the fields of a keyed container, each as the position of its key and then its value.
struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let session: EncodingSession
    let node: UInt32

    var codingPath: [any CodingKey] { session.tape.pointee.codingPath(of: node) }

    func encodeNil(forKey key: Key) throws { try write(.null, key) }
    func encode(_ value: Bool, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: String, forKey key: Key) throws {
        try session.tape.pointee.writeField(key.stringValue, value, to: node)
    }
    func encode(_ value: Double, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: Float, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: Int, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: Int8, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: Int16, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: Int32, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: Int64, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: UInt, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try write(WireScalar(value), key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try write(WireScalar(value), key) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let label = try session.tape.pointee.beginField(key.stringValue, in: node)
        try session.write(value, to: node, label: label)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        nested(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { nested(WireCodingKey.super.stringValue) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key.stringValue) }

    private func write(_ value: WireScalar, _ key: Key) throws {
        try session.tape.pointee.writeField(key.stringValue, value, to: node)
    }

    /// An error cannot leave here; the tape keeps it, and the next write or the end of the encode throws it.
    private func nested(_ key: String) -> WireEncoder {
        let label = (try? session.tape.pointee.beginField(key, in: node)) ?? .root
        return WireEncoder(session: session, node: session.tape.pointee.addChild(of: node, label: label))
    }
}
