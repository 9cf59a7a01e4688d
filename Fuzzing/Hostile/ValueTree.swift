import NIOCore

/// A value of any type, taken apart as its `Codable` writes it. It can be damaged in one place and put together again, so that
/// every field of every message is reached without being named.
indirect enum ValueTree: Sendable {
    case null
    case flag(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case real(Double)
    case text(String)
    case bytes([UInt8])
    case reals([Double])
    case list([ValueTree])
    case object([Field])

    struct Field: Sendable {
        var key: String
        var value: ValueTree
    }

    init(_ value: some Encodable) throws {
        let writer = ValueWriter()
        try writer.write(value)
        self = writer.slot.tree
    }

    /// - Throws: an error where no value of the type has this shape, so that the message could not be decoded.
    func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try ValueReader(self).read(type)
    }

    /// Places that can be damaged: the leaves and the containers.
    var count: Int {
        switch self {
        case .list(let values): values.reduce(1) { $0 + $1.count }
        case .object(let fields): fields.reduce(1) { $0 + $1.value.count }
        default: 1
        }
    }
}

/// A key that holds any text and any number.
struct FieldName: CodingKey, Hashable {
    var stringValue: String
    var intValue: Int? { Int(stringValue) }

    init(stringValue: String) { self.stringValue = stringValue }
    init(intValue: Int) { stringValue = "\(intValue)" }
}
