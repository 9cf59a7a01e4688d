/// How numbers become a format's whole numbers: value = `zero` + `step` * stored (FITS standard 4.0, section 5.3).
///
/// The lowest stored value is kept for pixels without a value (`BLANK`); of bytes it is the highest, because astropy takes
/// a `BLANK` of 0 for none.
struct PixelCoding {
    let format: PixelFormat
    /// `BZERO`.
    private(set) var zero = 0.0
    /// `BSCALE`: the quantum of the values.
    private(set) var step = 1.0
    /// What may be stored for a number; `nil` for floating point.
    let stored: ClosedRange<Double>?
    /// What is stored for a pixel without a value, where there are such pixels.
    private(set) var blank: Int64?

    /// The coding of `pixels`: as unsigned numbers in 16 bits, as cameras write them; over their own range in 8 bits;
    /// as they are, rounded, in more.
    init(_ format: PixelFormat, for pixels: [Float]) {
        self.format = format
        let free: Int64
        switch format {
        case .float, .double:
            stored = nil
            return
        case .byte:
            (free, stored) = (255, 0...254)
            let range = Self.range(of: pixels)
            let span = range.upperBound - range.lowerBound
            if span > 0 { step = span / 254 }
            zero = range.lowerBound
        case .short:
            (free, stored) = (Int64(Int16.min), -32_767...32_767)
            zero = 32_768
        case .int:
            (free, stored) = (Int64(Int32.min), -2_147_483_647...2_147_483_647)
        case .long:
            // The largest Double that is an Int64.
            (free, stored) = (.min, -9_223_372_036_854_774_784...9_223_372_036_854_774_784)
        }
        if pixels.contains(where: { $0.isNaN }) { blank = free }
    }

    /// The stored numbers of some pixels: rounded, cut at the ends of the format's range, never out of it.
    func encoded<Stored: FixedWidthInteger>(_ pixels: Slice<UnsafeBufferPointer<Float>>) -> [Stored] {
        guard let stored else { return [] }
        let (low, high, zero, perStep) = (stored.lowerBound, stored.upperBound, zero, 1 / step)
        let blank = Stored(truncatingIfNeeded: blank ?? 0)
        return pixels.map { pixel in
            guard !pixel.isNaN else { return blank }
            return Stored(min(max(((Double(pixel) - zero) * perStep).rounded(), low), high))
        }
    }

    /// The least and the greatest number.
    private static func range(of pixels: [Float]) -> ClosedRange<Double> {
        var low = Float.greatestFiniteMagnitude
        var high = -low
        for pixel in pixels where pixel.isFinite {
            low = min(low, pixel)
            high = max(high, pixel)
        }
        return low <= high ? Double(low)...Double(high) : 0...0
    }
}
