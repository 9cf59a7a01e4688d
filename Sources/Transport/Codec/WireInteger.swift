extension Int: WirePrimitive {}
extension Int8: WirePrimitive {}
extension Int16: WirePrimitive {}
extension Int32: WirePrimitive {}
extension Int64: WirePrimitive {}
extension UInt: WirePrimitive {}
extension UInt8: WirePrimitive {}
extension UInt16: WirePrimitive {}
extension UInt32: WirePrimitive {}
extension UInt64: WirePrimitive {}

/// All integers look alike on the wire: a field may be widened, or narrowed as long as its values fit.
extension WirePrimitive where Self: FixedWidthInteger {
    func write(to bytes: inout [UInt8]) {
        if self >= 0 {
            let value = UInt64(truncatingIfNeeded: self)
            if value < WireTag.smallInteger.count {
                bytes.append(UInt8(value))
            } else {
                bytes.write(value, tags: WireTag.integer)
            }
        } else {
            let complement = ~UInt64(truncatingIfNeeded: Int64(truncatingIfNeeded: self))
            if complement < WireTag.smallNegative.count {
                bytes.append(WireTag.smallNegative.lowerBound + UInt8(complement))
            } else {
                bytes.write(complement, tags: WireTag.negative)
            }
        }
    }

    static func read(_ wire: WireValue, in message: DecodingMessage) throws -> Self? {
        switch wire {
        case .unsigned(let value): Self(exactly: value)
        case .negative(let complement): Int64(exactly: complement).flatMap { Self(exactly: ~$0) }
        default: nil
        }
    }
}

extension [UInt8] {
    /// Appends the tag for as many bytes as `value`, which is not zero, needs, then those bytes, the lowest first.
    fileprivate mutating func write(_ value: UInt64, tags: ClosedRange<UInt8>) {
        let width = (UInt64.bitWidth - value.leadingZeroBitCount + 7) / 8
        append(tags.lowerBound + UInt8(width - 1))
        var rest = value
        for _ in 0..<width {
            append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }
}
