/// An array of numbers that travels as one block: a kind, then elements of fixed width.
protocol PackedArray {
    /// Writes the block where the current value of `node` goes.
    func write(to tape: inout EncodingTape, node: Int) throws
}

extension Array: PackedArray where Element: PackedElement {
    func write(to tape: inout EncodingTape, node: Int) throws {
        let kind = Element.packedKind(for: self)
        let length = 1 + count * kind.width
        try tape.write(count: 16 + length, to: node) { bytes in
            if isEmpty {
                bytes.append(WireTag.shortUnkeyed.lowerBound)
            } else {
                bytes.append(WireTag.packed)
                bytes.appendVarint(length)
                bytes.append(kind.rawValue)
                Element.write(self, as: kind, to: &bytes)
            }
        }
    }

    /// Reads the block at `range`; nil when its kind of number is not what `Element` reads in bulk.
    init?(packed range: WireRange, in message: DecodingMessage) throws {
        let (kind, bytes) = try message.packedBlock(range)
        guard let elements = Element.read(try message.slice(bytes), as: kind) else { return nil }
        self = elements
    }
}

/// A number of a packed array.
protocol PackedElement: WirePrimitive {
    /// The narrowest kind that holds all of `elements`.
    static func packedKind(for elements: [Self]) -> PackedKind
    static func write(_ elements: [Self], as kind: PackedKind, to bytes: inout [UInt8])
    /// Nil when an element is no `Self`; reading one by one then finds out which.
    static func read(_ bytes: UnsafeRawBufferPointer, as kind: PackedKind) -> [Self]?
}

extension Float: PackedElement {
    static func packedKind(for elements: [Float]) -> PackedKind { .float }

    static func write(_ elements: [Float], as kind: PackedKind, to bytes: inout [UInt8]) {
        PackedBlock.write(elements, to: &bytes) { $0.bitPattern }
    }

    static func read(_ bytes: UnsafeRawBufferPointer, as kind: PackedKind) -> [Float]? {
        kind == .float ? PackedBlock.read(bytes) { (bits: UInt32) in Float(bitPattern: bits) } : nil
    }
}

extension Double: PackedElement {
    static func packedKind(for elements: [Double]) -> PackedKind { .double }

    static func write(_ elements: [Double], as kind: PackedKind, to bytes: inout [UInt8]) {
        PackedBlock.write(elements, to: &bytes) { $0.bitPattern }
    }

    static func read(_ bytes: UnsafeRawBufferPointer, as kind: PackedKind) -> [Double]? {
        kind == .double ? PackedBlock.read(bytes) { (bits: UInt64) in Double(bitPattern: bits) } : nil
    }
}

extension Int: PackedElement {}
extension Int8: PackedElement {}
extension Int16: PackedElement {}
extension Int32: PackedElement {}
extension Int64: PackedElement {}
extension UInt: PackedElement {}
extension UInt16: PackedElement {}
extension UInt32: PackedElement {}
extension UInt64: PackedElement {}

extension PackedElement where Self: FixedWidthInteger {
    static func packedKind(for elements: [Self]) -> PackedKind {
        // A number and its complement take the same bits, so or-ing them all finds the widest.
        var bits: Self = 0
        var isSigned = false
        for element in elements {
            bits |= element < 0 ? ~element : element
            isSigned = isSigned || element < 0
        }
        let width = bitWidth - bits.leadingZeroBitCount + (isSigned ? 1 : 0)
        return switch (width, isSigned) {
        case (...8, false): .uint8
        case (...16, false): .uint16
        case (...32, false): .uint32
        case (_, false): .uint64
        case (...8, true): .int8
        case (...16, true): .int16
        case (...32, true): .int32
        case (_, true): .int64
        }
    }

    static func write(_ elements: [Self], as kind: PackedKind, to bytes: inout [UInt8]) {
        switch kind.width {
        case 1: PackedBlock.write(elements, to: &bytes) { UInt8(truncatingIfNeeded: $0) }
        case 2: PackedBlock.write(elements, to: &bytes) { UInt16(truncatingIfNeeded: $0) }
        case 4: PackedBlock.write(elements, to: &bytes) { UInt32(truncatingIfNeeded: $0) }
        default: PackedBlock.write(elements, to: &bytes) { UInt64(truncatingIfNeeded: $0) }
        }
    }

    static func read(_ bytes: UnsafeRawBufferPointer, as kind: PackedKind) -> [Self]? {
        switch kind {
        case .uint8: PackedBlock.read(bytes) { (bits: UInt8) in Self(exactly: bits) }
        case .uint16: PackedBlock.read(bytes) { (bits: UInt16) in Self(exactly: bits) }
        case .uint32: PackedBlock.read(bytes) { (bits: UInt32) in Self(exactly: bits) }
        case .uint64: PackedBlock.read(bytes) { (bits: UInt64) in Self(exactly: bits) }
        case .int8: PackedBlock.read(bytes) { (bits: UInt8) in Self(exactly: Int8(bitPattern: bits)) }
        case .int16: PackedBlock.read(bytes) { (bits: UInt16) in Self(exactly: Int16(bitPattern: bits)) }
        case .int32: PackedBlock.read(bytes) { (bits: UInt32) in Self(exactly: Int32(bitPattern: bits)) }
        case .int64: PackedBlock.read(bytes) { (bits: UInt64) in Self(exactly: Int64(bitPattern: bits)) }
        case .float, .double: nil
        }
    }
}
