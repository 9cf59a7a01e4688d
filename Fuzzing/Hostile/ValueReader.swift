import NIOCore

/// Puts a value together again.
struct ValueReader: Decoder, SingleValueDecodingContainer {
    let tree: ValueTree

    init(_ tree: ValueTree) { self.tree = tree }

    /// The tree is not that of such a value.
    struct Mismatch: Error {}

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let fields) = tree else { throw Mismatch() }
        return KeyedDecodingContainer(Keyed<Key>(fields: fields))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        switch tree {
        case .list(let values): Unkeyed(values: values)
        case .reals(let values): Unkeyed(values: values.map { .real($0) })
        case .bytes(let bytes): Unkeyed(values: bytes.map { .unsigned(UInt64($0)) })
        default: throw Mismatch()
        }
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let leaf: Any? =
            switch tree {
            case .bytes(let bytes) where type == ByteBuffer.self: ByteBuffer(bytes: bytes)
            case .bytes(let bytes) where type == [UInt8].self: bytes
            case .reals(let reals) where type == [Double].self: reals
            default: nil
            }
        if let leaf = leaf as? Value { return leaf }
        return try type.init(from: self)
    }

    private func integer<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws -> Number {
        let number: Number? =
            switch tree {
            case .integer(let value): Number(exactly: value)
            case .unsigned(let value): Number(exactly: value)
            default: nil
            }
        guard let number else { throw Mismatch() }
        return number
    }

    private func real() throws -> Double {
        switch tree {
        case .real(let value): value
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        default: throw Mismatch()
        }
    }

    func decodeNil() -> Bool { if case .null = tree { true } else { false } }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .flag(let value) = tree else { throw Mismatch() }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .text(let value) = tree else { throw Mismatch() }
        return value
    }

    func decode(_ type: Double.Type) throws -> Double { try real() }
    func decode(_ type: Float.Type) throws -> Float { Float(try real()) }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try read(type) }
}

private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: [ValueTree.Field]
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { fields.compactMap { Key(stringValue: $0.key) } }

    private func reader(_ key: some CodingKey) throws -> ValueReader {
        guard let field = fields.first(where: { $0.key == key.stringValue }) else { throw ValueReader.Mismatch() }
        return ValueReader(field.value)
    }

    func contains(_ key: Key) -> Bool { fields.contains { $0.key == key.stringValue } }
    func decodeNil(forKey key: Key) throws -> Bool { try reader(key).decodeNil() }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try reader(key).read(type) }

    func nestedContainer<Other: CodingKey>(
        keyedBy type: Other.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Other> {
        try reader(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try reader(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try reader(FieldName(stringValue: "super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try reader(key) }
}

private struct Unkeyed: UnkeyedDecodingContainer {
    let values: [ValueTree]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    init(values: [ValueTree]) { self.values = values }

    private mutating func next<Value>(_ body: (ValueReader) throws -> Value) throws -> Value {
        guard !isAtEnd else { throw ValueReader.Mismatch() }
        let value = try body(ValueReader(values[currentIndex]))
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, case .null = values[currentIndex] else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next { try $0.read(type) } }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}
