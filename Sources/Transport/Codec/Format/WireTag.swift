/// The first byte of every value. Small integers and the lengths of short strings and containers are in the tag.
enum WireTag {
    /// The non-negative integers 0...127 are their own tag.
    static let smallInteger: ClosedRange<UInt8> = 0x00...0x7F
    /// A string of 0...31 bytes.
    static let shortString: ClosedRange<UInt8> = 0x80...0x9F
    /// A keyed container with a body of 0...31 bytes.
    static let shortKeyed: ClosedRange<UInt8> = 0xA0...0xBF
    /// An unkeyed container with a body of 0...15 bytes.
    static let shortUnkeyed: ClosedRange<UInt8> = 0xC0...0xCF
    /// The integers -1 (0xD0) to -16 (0xDF).
    static let smallNegative: ClosedRange<UInt8> = 0xD0...0xDF
    static let null: UInt8 = 0xE0
    static let `false`: UInt8 = 0xE1
    static let `true`: UInt8 = 0xE2
    /// An IEEE 754 binary32, little-endian.
    static let float: UInt8 = 0xE3
    /// An IEEE 754 binary64, little-endian.
    static let double: UInt8 = 0xE4
    /// A varint length, then UTF-8.
    static let string: UInt8 = 0xE5
    /// A varint length, then bytes.
    static let bytes: UInt8 = 0xE6
    /// A varint length, then fields.
    static let keyed: UInt8 = 0xE7
    /// A non-negative integer in 1 (0xE8) to 8 (0xEF) little-endian bytes.
    static let integer: ClosedRange<UInt8> = 0xE8...0xEF
    /// The bitwise complement of a negative integer in 1 (0xF0) to 8 (0xF7) little-endian bytes.
    static let negative: ClosedRange<UInt8> = 0xF0...0xF7
    /// A varint length, then a count and elements.
    static let unkeyed: UInt8 = 0xF8
    /// A varint length, then a `PackedKind` and elements of fixed width.
    static let packed: UInt8 = 0xF9
}

/// What a packed array's elements are: little-endian integers and IEEE 754 numbers.
enum PackedKind: UInt8 {
    case uint8 = 1, uint16, uint32, uint64
    case int8, int16, int32, int64
    case float, double

    /// Bytes of one element.
    var width: Int {
        switch self {
        case .uint8, .int8: 1
        case .uint16, .int16: 2
        case .uint32, .int32, .float: 4
        case .uint64, .int64, .double: 8
        }
    }
}
