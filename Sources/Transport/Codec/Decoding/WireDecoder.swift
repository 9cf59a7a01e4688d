/// The decoder of one value, which is also its single-value container. It has twenty-four bytes, so it fits in `any Decoder`
/// without an allocation.
struct WireDecoder: Decoder, SingleValueDecodingContainer {
    let message: DecodingMessage
    let value: WireValue
    let node: UInt32

    var codingPath: [any CodingKey] { message.codingPath(of: place) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private var place: WirePlace { message.place(of: node) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try KeyedReader<Key>(value, node: node, in: message))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try UnkeyedReader(value, node: node, in: message)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool {
        if case .null = value { true } else { false }
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try message.reader.read(type, from: value, slice: { try message.slice($0) }) {
            try message.construct(type, from: self)
        }
    }

    func decode(_ type: Bool.Type) throws -> Bool { try read(type) }
    func decode(_ type: String.Type) throws -> String { try read(type) }
    func decode(_ type: Double.Type) throws -> Double { try read(type) }
    func decode(_ type: Float.Type) throws -> Float { try read(type) }
    func decode(_ type: Int.Type) throws -> Int { try read(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try read(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try read(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try read(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try read(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try read(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try read(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try read(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try read(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try read(type) }

    private func read<Value: WirePrimitive>(_ type: Value.Type) throws -> Value {
        try message.read(type, from: value, at: place)
    }
}
