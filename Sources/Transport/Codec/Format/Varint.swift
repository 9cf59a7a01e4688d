/// Lengths, counts and key indices: seven bits a byte, least significant first, the top bit set on all but the last
/// byte (LEB128, as in DWARF 5, section 7.6).
enum Varint {
    /// Bytes that `value` takes.
    static func size(_ value: Int) -> Int {
        value < 0x80 ? 1 : (Int.bitWidth - value.leadingZeroBitCount + 6) / 7
    }
}

/// Where the encoder's bytes go.
protocol ByteSink: ~Copyable {
    mutating func append(_ byte: UInt8)
    mutating func append(_ bytes: UnsafeRawBufferPointer)
}

extension ByteSink where Self: ~Copyable {
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

    /// Appends a string with its tag and length.
    @inline(__always)
    mutating func appendString(_ text: String, byteCount: Int) {
        if byteCount < WireTag.shortString.count {
            append(WireTag.shortString.lowerBound + UInt8(truncatingIfNeeded: byteCount))
        } else {
            append(WireTag.string)
            appendVarint(byteCount)
        }
        text.withKeyBytes { append($0) }
    }
}
