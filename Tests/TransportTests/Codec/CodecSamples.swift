import NIOCore
import Transport

/// A call's arguments as they come: a few small fields.
struct Reservation: Codable, Equatable {
    var coordinator: NodeID
    var job: String
    var slots: Int
    var attempt: UInt8
    var weight: Double
    var isLocal: Bool
}

/// Every kind of field that synthesised `Codable` makes.
struct Everything: Codable, Equatable {
    var bool = true
    var int8 = Int8.min
    var int16 = Int16.min
    var int32 = Int32.min
    var int64 = Int64.min
    var int = -17
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64.max
    var uint: UInt = 128
    var float: Float = 0.1
    var double = 0.1
    var text = "M 13, Hercules \u{2609} 👩‍🚀 e\u{301}"
    var longText = String(repeating: "catalogue ", count: 30)
    var present: Int? = 5
    var absent: String?
    var nested: [String: [Int: Outcome]] = ["a": [1: .done], "b": [:], "1": [-7: .failed("x", code: 3)]]
    var optionals: [Int?] = [nil, 1, nil]
    var byKind: [Kind: [Double]] = [.core: [1.5], .margin: []]
    var set: Set<String> = ["one", "two"]
    var bytes: [UInt8] = [0, 1, 255]
    var numbers: [[Int32]] = [[], [1, -1], [70000]]
    var outcomes: [Outcome] = [.done, .failed("why", code: -1), .lost(after: nil), .indirect(.done)]
}

enum Kind: String, Codable, Hashable {
    case core, margin
}

indirect enum Outcome: Codable, Equatable {
    case done
    case failed(String, code: Int)
    case lost(after: Double?)
    case indirect(Outcome)
}

/// A value that nests as deep as one likes.
indirect enum Tree: Codable, Equatable {
    case leaf
    case node([Tree])
}

/// Wraps a value, because `JSONEncoder` refuses some at the top.
struct Box<Value: Codable>: Codable {
    var value: Value
}

extension Box: Equatable where Value: Equatable {}

extension WireCoder {
    /// The bytes of `value` as numbers, for golden tests.
    static func bytes<T: Encodable>(_ value: T) throws -> [UInt8] {
        try Array(encode(value).readableBytesView)
    }

    static func decode<T: Decodable>(_ type: T.Type, _ bytes: [UInt8], limits: DecodingLimits = .init()) throws -> T {
        try decode(type, from: ByteBuffer(bytes: bytes), limits: limits)
    }

    static func roundTrip<T: Codable>(_ value: T) throws -> T {
        try decode(T.self, from: encode(value))
    }
}
