import Glibc

/// Turns pixel values into 8-bit grey so that the faint and the bright are seen at once: linear around the sky,
/// logarithmic above, by the inverse hyperbolic sine (Lupton et al. 2004, PASP 116, 133).
struct GreyStretch {
    private let black: Float
    private let scale: Float
    private let white: Float

    /// Values that the limits are taken from; more would not change them visibly.
    private static let sampleSize = 10_000

    /// - Parameter values: the image; NaN where it has none.
    init(samplesOf values: [Float]) {
        let step = max(1, values.count / Self.sampleSize)
        var sample: [Double] = []
        sample.reserveCapacity(values.count / step + 1)
        for index in stride(from: 0, to: values.count, by: step) where values[index].isFinite {
            sample.append(Double(values[index]))
        }
        sample.sort()
        let limits = ZScale(sorted: sample)
        let span = max(limits.high - limits.low, .leastNormalMagnitude)
        // White where one value in two thousand lies above, so that one bright star does not darken the rest, yet at
        // least four times and at most a hundred times zscale's range up: a field of faint stars keeps its dark sky.
        let bright = sample.isEmpty ? 0 : sample[min(sample.count - 1, sample.count * 1999 / 2000)]
        let reach = min(max((bright - limits.low) / span, 4), 100)
        black = Float(limits.low)
        scale = Float(Self.softening / span)
        white = Float(asinh(Self.softening * reach))
    }

    /// Where the linear part ends: a third of zscale's range.
    private static let softening = 3.0

    /// Grey of every value; 0 for NaN. The power of 3/2 makes for a dark sky on a screen, and clips nothing.
    func apply(to values: [Float]) -> [UInt8] {
        values.map { value in
            let grey = asinhf((value - black) * scale) / white
            // False for NaN, and for what lies below black.
            return grey > 0 ? UInt8(min((255 * grey * grey.squareRoot()).rounded(), 255)) : 0
        }
    }
}
