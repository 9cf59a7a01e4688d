/// The only place that touches the message's memory. Every read checks its bounds here, in release builds too:
/// the subscripts of an unsafe pointer do not.
struct WireReader {
    private let bytes: UnsafeRawBufferPointer

    /// The longest string or key to read.
    private let textLimit: Int

    init(_ bytes: UnsafeRawBufferPointer, textLimit: Int) throws(WireCodingError) {
        guard bytes.count <= MessageLimits.byteCount else {
            throw .limitExceeded("message bytes", limit: MessageLimits.byteCount)
        }
        self.bytes = bytes
        self.textLimit = textLimit
    }

    /// A reader of nothing.
    init() {
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        textLimit = 0
    }

    var count: Int { bytes.count }

    @inline(__always)
    func byte(at offset: Int) throws(WireCodingError) -> UInt8 {
        guard offset >= 0, offset < bytes.count else { throw .truncated(offset: offset) }
        return bytes[offset]
    }

    /// The bytes of `range`.
    func slice(_ range: WireRange) throws(WireCodingError) -> UnsafeRawBufferPointer {
        guard range.start <= range.end, range.upper <= bytes.count else { throw .truncated(offset: range.lower) }
        return UnsafeRawBufferPointer(rebasing: bytes[range.lower..<range.upper])
    }

    /// A little-endian integer of `width` (1...8) bytes.
    @inline(__always)
    func integer(at offset: inout Int, width: Int, end: Int) throws(WireCodingError) -> UInt64 {
        guard width <= end - offset else { throw .truncated(offset: offset) }
        var value: UInt64 = 0
        for index in 0..<width {
            value |= UInt64(try byte(at: offset + index)) << UInt64(8 * index)
        }
        offset += width
        return value
    }

    /// A length or count: a varint no greater than the bytes that are left before `end`. Everything that is counted takes at least
    /// a byte, so a greater number can only be false, and no memory may be allocated by it.
    @inline(__always)
    func length(at offset: inout Int, end: Int) throws(WireCodingError) -> Int {
        let start = offset
        let value = try varint(at: &offset, end: end)
        guard value <= UInt64(end - offset) else { throw .truncated(offset: start) }
        return Int(value)
    }

    @inline(__always)
    func varint(at offset: inout Int, end: Int) throws(WireCodingError) -> UInt64 {
        let start = offset
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard offset < end else { throw .truncated(offset: start) }
            let byte = try byte(at: offset)
            offset += 1
            // The tenth byte holds the sixty-fourth bit alone.
            guard shift < 63 || byte <= 1 else { throw .overlongNumber(offset: start) }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    /// The bytes of `range`, found to be UTF-8.
    func validatedText(_ range: WireRange) throws(WireCodingError) -> UnsafeRawBufferPointer {
        guard range.count <= textLimit else { throw .limitExceeded("stringBytes", limit: textLimit) }
        let bytes = try slice(range)
        var highBits: UInt8 = 0
        for byte in bytes { highBits |= byte }
        guard highBits >= 0x80 else { return bytes }
        do {
            _ = try UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span)
            return bytes
        } catch {
            throw .invalidUTF8(offset: range.lower)
        }
    }

    /// Whether `range` holds `other`.
    @inline(__always)
    func holds(_ other: UnsafeRawBufferPointer, at range: WireRange) -> Bool {
        guard let bytes = try? slice(range) else { return false }
        return bytes.hasSameBytes(as: other)
    }

    /// The text of `range`, copied and validated.
    func text(_ range: WireRange) throws(WireCodingError) -> String {
        guard range.count <= textLimit else { throw .limitExceeded("stringBytes", limit: textLimit) }
        let bytes = try slice(range)
        do {
            // This is four times as fast for short text as `String(validating:as:)`, which looks up generic metadata.
            return String(copying: try UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span))
        } catch {
            throw .invalidUTF8(offset: range.lower)
        }
    }
}

extension WireReader {
    /// The value of a message without keys; nil when there are keys, or when not even the value is in order.
    @inline(__always)
    func loneValue() -> WireValue? {
        guard count > 1, bytes[0] == 0 else { return nil }
        var offset = 1
        guard let value = try? value(at: &offset, end: count), offset == count else { return nil }
        return value
    }

    /// Returns the value at `offset` and moves `offset` behind it. It takes the same time for a container of any size.
    func value(at offset: inout Int, end: Int) throws(WireCodingError) -> WireValue {
        let start = offset
        guard start < end else { throw .truncated(offset: start) }
        let tag = try byte(at: start)
        offset += 1
        switch tag {
        case WireTag.smallInteger: return .unsigned(UInt64(tag))
        case WireTag.shortString: return .string(try range(Int(tag & 0x1F), at: &offset, end: end))
        case WireTag.shortKeyed: return .keyed(try range(Int(tag & 0x1F), at: &offset, end: end))
        case WireTag.shortUnkeyed: return .unkeyed(try range(Int(tag & 0x0F), at: &offset, end: end))
        case WireTag.smallNegative: return .negative(UInt64(tag & 0x0F))
        case WireTag.integer: return .unsigned(try integer(at: &offset, width: Int(tag & 0x07) + 1, end: end))
        case WireTag.negative: return .negative(try integer(at: &offset, width: Int(tag & 0x07) + 1, end: end))
        case WireTag.null: return .null
        case WireTag.false: return .bool(false)
        case WireTag.true: return .bool(true)
        case WireTag.float:
            let bits = UInt32(truncatingIfNeeded: try integer(at: &offset, width: 4, end: end))
            return .float(Float(bitPattern: bits))
        case WireTag.double: return .double(Double(bitPattern: try integer(at: &offset, width: 8, end: end)))
        case WireTag.string: return .string(try longRange(at: &offset, end: end))
        case WireTag.bytes: return .bytes(try longRange(at: &offset, end: end))
        case WireTag.keyed: return .keyed(try longRange(at: &offset, end: end))
        case WireTag.unkeyed: return .unkeyed(try longRange(at: &offset, end: end))
        case WireTag.packed: return .packed(try longRange(at: &offset, end: end))
        default: throw .unknownTag(tag, offset: start)
        }
    }

    /// The body of a value whose varint length is at `offset`.
    private func longRange(at offset: inout Int, end: Int) throws(WireCodingError) -> WireRange {
        let length = try length(at: &offset, end: end)
        return try range(length, at: &offset, end: end)
    }

    /// The next `length` bytes.
    @inline(__always)
    func range(_ length: Int, at offset: inout Int, end: Int) throws(WireCodingError) -> WireRange {
        guard length <= end - offset, offset + length <= bytes.count else { throw .truncated(offset: offset) }
        let range = WireRange(start: UInt32(offset), end: UInt32(offset + length))
        offset += length
        return range
    }
}
