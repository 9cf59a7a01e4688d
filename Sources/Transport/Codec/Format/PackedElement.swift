/// A number of an array that travels as one block: a kind, then elements of fixed width.
protocol PackedElement {
    /// The narrowest form that holds all of `elements`.
    static func form(of elements: [Self]) -> PayloadForm
    static func write(_ elements: [Self], as kind: PackedKind, to bytes: UnsafeMutableRawBufferPointer)
    /// The result is nil when an element is not a `Self`; reading one by one then finds out which.
    static func read(_ bytes: UnsafeRawBufferPointer, as kind: PackedKind) -> [Self]?
}

extension Float: PackedElement {
    static func form(of elements: [Float]) -> PayloadForm {
        elements.isEmpty ? .empty : .packed(.float, count: elements.count)
    }

    static func write(_ elements: [Float], as kind: PackedKind, to bytes: UnsafeMutableRawBufferPointer) {
        PackedBlock.write(elements, to: bytes) { $0.bitPattern }
    }

    static func read(_ bytes: UnsafeRawBufferPointer, as kind: PackedKind) -> [Float]? {
        kind == .float ? PackedBlock.read(bytes) { (bits: UInt32) in Float(bitPattern: bits) } : nil
    }
}

extension Double: PackedElement {
    static func form(of elements: [Double]) -> PayloadForm {
        elements.isEmpty ? .empty : .packed(.double, count: elements.count)
    }

    static func write(_ elements: [Double], as kind: PackedKind, to bytes: UnsafeMutableRawBufferPointer) {
        PackedBlock.write(elements, to: bytes) { $0.bitPattern }
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

/// Bytes have a tag of their own.
extension UInt8: PackedElement {
    static func form(of elements: [UInt8]) -> PayloadForm { .bytes(count: elements.count) }
}

extension PackedElement where Self: FixedWidthInteger {
    static func form(of elements: [Self]) -> PayloadForm {
        elements.isEmpty ? .empty : .packed(kind(for: elements), count: elements.count)
    }

    private static func kind(for elements: [Self]) -> PackedKind {
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

    static func write(_ elements: [Self], as kind: PackedKind, to bytes: UnsafeMutableRawBufferPointer) {
        switch kind.width {
        case 1: PackedBlock.write(elements, to: bytes) { UInt8(truncatingIfNeeded: $0) }
        case 2: PackedBlock.write(elements, to: bytes) { UInt16(truncatingIfNeeded: $0) }
        case 4: PackedBlock.write(elements, to: bytes) { UInt32(truncatingIfNeeded: $0) }
        default: PackedBlock.write(elements, to: bytes) { UInt64(truncatingIfNeeded: $0) }
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
