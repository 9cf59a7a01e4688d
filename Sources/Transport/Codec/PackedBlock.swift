/// The elements of a packed array: integers or bit patterns of one width, little-endian, without padding.
enum PackedBlock {
    /// Fills `bytes` with every element as the `bits` that stand for it.
    @inline(__always)
    static func write<Element, Bits: FixedWidthInteger>(
        _ elements: [Element],
        to bytes: UnsafeMutableRawBufferPointer,
        bits: (Element) -> Bits
    ) {
        let width = MemoryLayout<Bits>.size
        guard bytes.count >= elements.count * width, let start = bytes.baseAddress else { return }
        elements.withUnsafeBufferPointer { elements in
            for index in elements.indices {
                start.storeBytes(of: bits(elements[index]).littleEndian, toByteOffset: index * width, as: Bits.self)
            }
        }
    }

    /// All elements; nil when `element` refuses one. The array that is allocated is as long as the block and no longer: at most
    /// eight bytes in memory for each byte of the message.
    @inline(__always)
    static func read<Element, Bits: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer,
        element: (Bits) -> Element?
    ) -> [Element]? {
        let width = MemoryLayout<Bits>.size
        let total = bytes.count / width
        var isComplete = true
        let elements = [Element](unsafeUninitializedCapacity: total) { storage, count in
            while count < total {
                let bits = Bits(littleEndian: bytes.loadUnaligned(fromByteOffset: count * width, as: Bits.self))
                guard let element = element(bits) else {
                    isComplete = false
                    return
                }
                storage.initializeElement(at: count, to: element)
                count += 1
            }
        }
        return isComplete ? elements : nil
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
