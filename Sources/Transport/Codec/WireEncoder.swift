/// The encoder of one value, which is also its single-value container.
struct WireEncoder: Encoder, SingleValueEncodingContainer {
    let session: EncodingSession
    let node: Int

    var codingPath: [any CodingKey] { session.tape.codingPath(of: node) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        session.tape.settle(node, as: .keyed)
        return KeyedEncodingContainer(KeyedWriter<Key>(session: session, node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        session.tape.settle(node, as: .unkeyed)
        return UnkeyedWriter(session: session, node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws {
        try session.tape.writeSingle(WireNull(), to: node)
    }

    func encode<T: Encodable>(_ value: T) throws {
        guard let native = NativeValue(value) else {
            try session.tape.check(node)
            return try value.encode(to: self)
        }
        try session.tape.writeSingle(native, to: node)
    }

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

    private func write(_ value: some WirePrimitive) throws {
        try session.tape.writeSingle(value, to: node)
    }
}
