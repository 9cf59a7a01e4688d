extension Array where Element: PackedElement {
    /// Reads the packed array at `range`; nil when its kind of number is not what `Element` reads in bulk.
    init?(packed range: WireRange, in reader: WireReader) throws {
        let (kind, bytes) = try reader.packedBlock(range)
        guard let elements = Element.read(try reader.slice(bytes), as: kind) else { return nil }
        self = elements
    }
}

extension WireReader {
    /// The kind of the packed array whose body is `range`, and where its elements are.
    func packedBlock(_ range: WireRange) throws -> (PackedKind, WireRange) {
        var offset = range.lower
        guard offset < range.upper, let kind = PackedKind(rawValue: try byte(at: offset)) else {
            throw WireCodingError.malformedPackedArray(offset: range.lower)
        }
        offset += 1
        let elements = try self.range(range.upper - offset, at: &offset, end: range.upper)
        guard elements.count % kind.width == 0 else {
            throw WireCodingError.malformedPackedArray(offset: range.lower)
        }
        return (kind, elements)
    }

    /// Returns the element of `kind` at `offset` as if it stood alone, and moves `offset` behind it.
    func packedElement(_ kind: PackedKind, at offset: inout Int, end: Int) throws -> WireValue {
        let bits = try integer(at: &offset, width: kind.width, end: end)
        switch kind {
        case .uint8, .uint16, .uint32, .uint64: return .unsigned(bits)
        case .int8: return .signed(Int64(Int8(truncatingIfNeeded: bits)))
        case .int16: return .signed(Int64(Int16(truncatingIfNeeded: bits)))
        case .int32: return .signed(Int64(Int32(truncatingIfNeeded: bits)))
        case .int64: return .signed(Int64(bitPattern: bits))
        case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case .double: return .double(Double(bitPattern: bits))
        }
    }
}

extension WireValue {
    fileprivate static func signed(_ value: Int64) -> WireValue {
        value < 0 ? .negative(UInt64(bitPattern: ~value)) : .unsigned(UInt64(value))
    }
}
