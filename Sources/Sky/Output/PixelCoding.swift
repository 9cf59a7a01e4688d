/// How numbers become a format's integers: value = `zero` + `step` * stored (FITS standard 4.0, section 5.3).
///
/// The lowest stored value is reserved for pixels without a value (`BLANK`). For bytes it is the highest, because astropy
/// ignores a `BLANK` of 0.
struct PixelCoding {
    let format: PixelFormat
    /// `BZERO`.
    private(set) var zero = 0.0
    /// `BSCALE`: the quantum of the values.
    private(set) var step = 1.0
    /// The range of stored numbers; `nil` for floating point.
    let stored: ClosedRange<Double>?
    /// The stored number of a pixel without a value, if there are such pixels.
    private(set) var blank: Int64?

    /// The coding of `pixels`. 16 bits hold unsigned numbers, as cameras write them; 8 bits cover the range of the pixels; more
    /// bits hold the rounded values themselves.
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

    /// The stored numbers of some pixels: rounded, and limited to the format's range.
    func encoded<Stored: FixedWidthInteger>(_ pixels: Slice<UnsafeBufferPointer<Float>>) -> [Stored] {
        guard let stored else { return [] }
        let (low, high, zero, perStep) = (stored.lowerBound, stored.upperBound, zero, 1 / step)
        let blank = Stored(truncatingIfNeeded: blank ?? 0)
        return pixels.map { pixel in
            guard !pixel.isNaN else { return blank }
            return Stored(min(max(((Double(pixel) - zero) * perStep).rounded(), low), high))
        }
    }

    /// The range from the least to the greatest number.
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
