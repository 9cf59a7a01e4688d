/// A value of any shape that `Codable` can make, written and read through hand-made containers.
indirect enum RandomValue: Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case double(UInt64)
    case float(UInt32)
    case text(String)
    case bytes([UInt8])
    case numbers([Int32])
    case array([RandomValue])
    case object([String: RandomValue])

    init(using generator: inout SeededGenerator, depth: Int = 0) {
        let bits = generator.next() >> UInt64.random(in: 0..<64, using: &generator)
        switch Int.random(in: 0..<(depth < 6 ? 13 : 9), using: &generator) {
        case 0: self = .null
        case 1: self = .bool(bits & 1 == 0)
        case 2: self = .int(Int64(bitPattern: bits) &* (bits & 1 == 0 ? 1 : -1))
        case 3: self = .uint(bits)
        case 4: self = .double(bits & 1 == 0 ? generator.next() : Double(Float(bits)).bitPattern)
        case 5: self = .float(UInt32(truncatingIfNeeded: generator.next()))
        case 6: self = .text(Self.text(using: &generator))
        case 7: self = .bytes((0..<bits % 300).map { UInt8(truncatingIfNeeded: $0) })
        case 8: self = .numbers((0..<bits % 20).map { Int32(truncatingIfNeeded: bits &* $0) })
        case 9, 10:
            self = .array((0..<bits % 9).map { _ in RandomValue(using: &generator, depth: depth + 1) })
        default:
            var object: [String: RandomValue] = [:]
            for _ in 0..<bits % 9 {
                object[Self.text(using: &generator)] = RandomValue(using: &generator, depth: depth + 1)
            }
            self = .object(object)
        }
    }

    private static func text(using generator: inout SeededGenerator) -> String {
        let letters = Array("abcé\u{2609}👩‍🚀\0\"")
        let count = Int.random(in: 0..<40, using: &generator)
        return String((0..<count).compactMap { _ in letters.randomElement(using: &generator) })
    }
}

extension RandomValue: Codable {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private enum Kind: String, Codable {
        case null, bool, int, uint, double, float, text, bytes, numbers, array, object
    }

    // A pair of a kind and a value. Arrays and objects open all their children before they fill any of them, so
    // that containers are written to in turn.
    func encode(to encoder: any Encoder) throws {
        var pair = encoder.unkeyedContainer()
        switch self {
        case .null: try Self.write(.null, Int?.none, to: &pair)
        case .bool(let value): try Self.write(.bool, value, to: &pair)
        case .int(let value): try Self.write(.int, value, to: &pair)
        case .uint(let value): try Self.write(.uint, value, to: &pair)
        case .double(let bits): try Self.write(.double, Double(bitPattern: bits), to: &pair)
        case .float(let bits): try Self.write(.float, Float(bitPattern: bits), to: &pair)
        case .text(let value): try Self.write(.text, value, to: &pair)
        case .bytes(let value): try Self.write(.bytes, value, to: &pair)
        case .numbers(let value): try Self.write(.numbers, value, to: &pair)
        case .array(let values):
            var container = pair.nestedUnkeyedContainer()
            try pair.encode(Kind.array)
            let encoders = values.map { _ in container.superEncoder() }
            for (value, encoder) in zip(values, encoders).reversed() { try value.encode(to: encoder) }
        case .object(let values):
            var container = pair.nestedContainer(keyedBy: Key.self)
            let encoders = values.keys.map { ($0, container.superEncoder(forKey: Key(stringValue: $0))) }
            try pair.encode(Kind.object)
            for (key, encoder) in encoders { try values[key]?.encode(to: encoder) }
        }
    }

    private static func write(
        _ kind: Kind,
        _ value: some Encodable,
        to pair: inout any UnkeyedEncodingContainer
    ) throws {
        try pair.encode(value)
        try pair.encode(kind)
    }

    init(from decoder: any Decoder) throws {
        var pair = try decoder.unkeyedContainer()
        // The kind comes second; a second view of the container reads it first.
        var ahead = try decoder.unkeyedContainer()
        _ = try ahead.decode(Skipped.self)
        switch try ahead.decode(Kind.self) {
        case .null: self = try pair.decodeNil() ? .null : .bool(false)
        case .bool: self = .bool(try pair.decode(Bool.self))
        case .int: self = .int(try pair.decode(Int64.self))
        case .uint: self = .uint(try pair.decode(UInt64.self))
        case .double: self = .double(try pair.decode(Double.self).bitPattern)
        case .float: self = .float(try pair.decode(Float.self).bitPattern)
        case .text: self = .text(try pair.decode(String.self))
        case .bytes: self = .bytes(try pair.decode([UInt8].self))
        case .numbers: self = .numbers(try pair.decode([Int32].self))
        case .array:
            var container = try pair.nestedUnkeyedContainer()
            var values: [RandomValue] = []
            while !container.isAtEnd { values.append(try container.decode(RandomValue.self)) }
            self = .array(values)
        case .object:
            let container = try pair.nestedContainer(keyedBy: Key.self)
            var values: [String: RandomValue] = [:]
            for key in container.allKeys {
                values[key.stringValue] = try RandomValue(from: container.superDecoder(forKey: key))
            }
            self = .object(values)
        }
    }

    private struct Skipped: Decodable {}
}
