/// Reads the fields of a keyed container by key.
struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let message: DecodingMessage
    private let node: UInt32
    /// The number that stands for the container in the message's state.
    private let container: UInt32

    init(_ value: WireValue, node: UInt32, in message: DecodingMessage) throws {
        guard case .keyed(let range) = value else {
            throw message.mismatch(container: "a keyed container", found: value, at: message.place(of: node))
        }
        self.message = message
        self.node = node
        container = try message.state.pointee.openKeyed(range, node: node)
    }

    var codingPath: [any CodingKey] { message.codingPath(of: message.place(of: node)) }

    // Neither of these two can throw. Containers that a type has kept after the decode are empty.
    var allKeys: [Key] {
        let texts = try? message.state.pointee.keys(of: container)
        return texts?.compactMap { Key(stringValue: $0) } ?? []
    }

    func contains(_ key: Key) -> Bool {
        let field = try? message.state.pointee.field(key.stringValue, of: container)
        return field != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        if case .null = try find(key).value { true } else { false }
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let (value, place) = try find(key)
        return try message.decode(type, from: value, at: place)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try read(type, key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try read(type, key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try read(type, key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try read(type, key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try read(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try read(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try read(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try read(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try read(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try read(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try read(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try read(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try read(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try read(type, key) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let (value, place) = try find(key)
        return KeyedDecodingContainer(try KeyedReader<NestedKey>(value, node: message.addNode(place), in: message))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        let (value, place) = try find(key)
        return try UnkeyedReader(value, node: message.addNode(place), in: message)
    }

    func superDecoder() throws -> any Decoder { try decoder(WireCodingKey.super) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    /// A class that is not on the wire may still decode itself from null, as in Foundation's coders.
    private func decoder(_ key: some CodingKey) throws -> WireDecoder {
        guard let field = try message.state.pointee.field(key.stringValue, of: container) else {
            return WireDecoder(message: message, value: .null, node: node)
        }
        let place = WirePlace(parent: node, label: .key(field.key))
        return WireDecoder(message: message, value: field.value, node: message.addNode(place))
    }

    // This is inlined, so that the code behind it is specialised for the value although `Key` is not known here.
    @inline(__always)
    private func read<Value: WirePrimitive>(_ type: Value.Type, _ key: Key) throws -> Value {
        let (value, place) = try find(key)
        return try message.read(type, from: value, at: place)
    }

    private func find(_ key: Key) throws -> (value: WireValue, place: WirePlace) {
        guard let field = try message.state.pointee.field(key.stringValue, of: container) else {
            throw DecodingError.keyNotFound(
                key, message.context(at: message.place(of: node), "No value for key \"\(key.stringValue)\""))
        }
        return (field.value, WirePlace(parent: node, label: .key(field.key)))
    }
}
