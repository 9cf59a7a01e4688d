import NIOCore

/// Every kind of field that synthesised `Codable` makes, written the same way every time.
struct Everything: Codable {
    var bool = true
    var int8 = Int8.min
    var int64 = Int64.min
    var uint: UInt = 128
    var float: Float = 0.1
    var double = 0.1
    var text = "M 13 \u{2609}"
    var present: Int? = 5
    var absent: String?
    var outcomes: [Outcome] = [.done, .failed("why", code: -1), .indirect(.done)]
    var optionals: [Int?] = [nil, 1]
    var kind = Kind.core
    var bytes: [UInt8] = [0, 1, 255]
    var buffer = ByteBuffer(string: "buffer")
    var numbers: [[Int32]] = [[], [1, -1], [70_000]]
    var span: ClosedRange<Int> = 1...2

    enum Kind: String, Codable { case core, margin }

    indirect enum Outcome: Codable {
        case done
        case failed(String, code: Int)
        case indirect(Outcome)
    }
}

/// Nests as deep as the bytes say.
indirect enum Tree: Codable, Hashable {
    case leaf
    case node([Tree])
}

/// A value of any kind: it asks the bytes for one kind after the other.
indirect enum AnyMessage: Codable {
    case null
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case double(Double)
    case text(String)
    case bytes([UInt8])
    case array([AnyMessage])
    case object([(AnyKey, AnyMessage)])

    init(from decoder: any Decoder) throws {
        if let fields = try? decoder.container(keyedBy: AnyKey.self) {
            self = .object(try fields.allKeys.map { ($0, try fields.decode(AnyMessage.self, forKey: $0)) })
            return
        }
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let int = try? value.decode(Int64.self) {
            self = .int(int)
        } else if let uint = try? value.decode(UInt64.self) {
            self = .uint(uint)
        } else if let double = try? value.decode(Double.self) {
            self = .double(double)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let bytes = try? value.decode([UInt8].self) {
            self = .bytes(bytes)
        } else {
            var elements = try decoder.unkeyedContainer()
            var array: [AnyMessage] = []
            while !elements.isAtEnd { array.append(try elements.decode(AnyMessage.self)) }
            self = .array(array)
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .null: try encode(Int?.none, to: encoder)
        case .bool(let value): try encode(value, to: encoder)
        case .int(let value): try encode(value, to: encoder)
        case .uint(let value): try encode(value, to: encoder)
        case .double(let value): try encode(value, to: encoder)
        case .text(let value): try encode(value, to: encoder)
        case .bytes(let value): try encode(value, to: encoder)
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .object(let fields):
            var container = encoder.container(keyedBy: AnyKey.self)
            for (key, value) in fields { try container.encode(value, forKey: key) }
        }
    }

    private func encode(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
