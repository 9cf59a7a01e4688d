import NIOCore

/// Lengths, counts and key indices: seven bits a byte, least significant first, the top bit set on all but the last
/// byte (LEB128, as in DWARF 5, section 7.6).
enum Varint {
    /// Bytes that `value` takes.
    static func size(_ value: Int) -> Int {
        value < 0x80 ? 1 : (Int.bitWidth - value.leadingZeroBitCount + 6) / 7
    }
}

extension ByteBuffer {
    /// Appends a non-negative `value`.
    mutating func writeVarint(_ value: Int) {
        var rest = UInt(bitPattern: value)
        while rest >= 0x80 {
            writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        writeInteger(UInt8(truncatingIfNeeded: rest))
    }
}

extension [UInt8] {
    /// Appends a non-negative `value`.
    @inline(__always)
    mutating func appendVarint(_ value: Int) {
        var rest = UInt(bitPattern: value)
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends `value`, the lowest byte first.
    @inline(__always)
    mutating func appendInteger(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
