/// A value of at most nine bytes as it goes on the wire: its tag, and the bytes behind the tag.
struct WireScalar {
    let tag: UInt8
    /// The bytes behind the tag, the lowest first; the rest is zero.
    let bits: UInt64
    /// How many of them there are, 0 to 8.
    let width: Int

    static let byteCountMax = 9

    @inline(__always)
    init(tag: UInt8, bits: UInt64 = 0, width: Int = 0) {
        self.tag = tag
        self.bits = bits
        self.width = width
    }

    static let null = WireScalar(tag: WireTag.null)

    @inline(__always)
    init(_ value: Bool) {
        self.init(tag: value ? WireTag.true : WireTag.false)
    }

    @inline(__always)
    init(_ value: Float) {
        self.init(tag: WireTag.float, bits: UInt64(value.bitPattern), width: 4)
    }

    /// A double that a `Float` holds exactly takes the bytes of a `Float`. A NaN stays a double, and so keeps its payload.
    @inline(__always)
    init(_ value: Double) {
        if let short = Float(exactly: value) {
            self.init(short)
        } else {
            self.init(tag: WireTag.double, bits: value.bitPattern, width: 8)
        }
    }

    /// All integers look alike on the wire: a field may be widened, or narrowed as long as its values fit.
    @inline(__always)
    init(_ value: some FixedWidthInteger) {
        if value >= 0 {
            self.init(magnitude: UInt64(truncatingIfNeeded: value), small: WireTag.smallInteger, long: WireTag.integer)
        } else {
            let complement = ~UInt64(truncatingIfNeeded: Int64(truncatingIfNeeded: value))
            self.init(magnitude: complement, small: WireTag.smallNegative, long: WireTag.negative)
        }
    }

    @inline(__always)
    private init(magnitude: UInt64, small: ClosedRange<UInt8>, long: ClosedRange<UInt8>) {
        if magnitude < small.count {
            self.init(tag: small.lowerBound + UInt8(truncatingIfNeeded: magnitude))
        } else {
            let width = (UInt64.bitWidth - magnitude.leadingZeroBitCount + 7) / 8
            self.init(tag: long.lowerBound + UInt8(truncatingIfNeeded: width - 1), bits: magnitude, width: width)
        }
    }
}
