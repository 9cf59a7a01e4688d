/// The encoder of one value, which is also its single-value container.
struct WireEncoder: Encoder, SingleValueEncodingContainer {
    let session: EncodingSession
    let node: UInt32

    var codingPath: [any CodingKey] { session.tape.pointee.codingPath(of: node) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        session.tape.pointee.settle(node, as: .keyed)
        return KeyedEncodingContainer(KeyedWriter<Key>(session: session, node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        session.tape.pointee.settle(node, as: .unkeyed)
        return UnkeyedWriter(session: session, node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws {
        try write(.null)
    }

    func encode<T: Encodable>(_ value: T) throws {
        guard let native = NativeValue(value) else {
            try session.tape.pointee.check(node)
            return try value.encode(to: self)
        }
        try session.tape.pointee.writeSingle(native, to: node)
    }

    func encode(_ value: Bool) throws { try write(WireScalar(value)) }
    func encode(_ value: String) throws { try session.tape.pointee.writeSingle(.text(value), to: node) }
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

    private func write(_ value: WireScalar) throws {
        try session.tape.pointee.writeSingle(.scalar(value), to: node)
    }
}
