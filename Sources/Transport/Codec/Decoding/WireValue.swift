/// One value as it stands in the message: a scalar, or where its bytes are. Nothing below it has been looked at.
enum WireValue {
    case null
    case bool(Bool)
    case unsigned(UInt64)
    /// A negative integer by its bitwise complement: 0 is -1.
    case negative(UInt64)
    case float(Float)
    case double(Double)
    case string(WireRange)
    case bytes(WireRange)
    case keyed(WireRange)
    case unkeyed(WireRange)
    case packed(WireRange)

    /// What was found, as a text for errors.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .unsigned, .negative: "an integer"
        case .float, .double: "a floating-point number"
        case .string: "a string"
        case .bytes: "bytes"
        case .keyed: "a keyed container"
        case .unkeyed: "an unkeyed container"
        case .packed: "a packed array"
        }
    }
}

/// Bytes of the message. The offsets have thirty-two bits each, so that a decoder fits in an existential without being boxed.
struct WireRange {
    let start: UInt32
    let end: UInt32

    var lower: Int { Int(start) }
    var upper: Int { Int(end) }
    var count: Int { upper - lower }
}
