import Glibc

/// Turns pixel values into 8-bit grey so that both faint and bright objects are visible. The curve is linear around the sky and
/// logarithmic above, by the inverse hyperbolic sine (Lupton et al. 2004, PASP 116, 133), in units of the sky's own noise. So
/// light a little above the noise is visible in any image, regardless of the brightest object.
struct GreyStretch {
    private let black: Float
    private let scale: Float
    private let white: Float

    /// The number of values that decide the limits; more would not change them visibly.
    private static let sampleSize = 10_000
    /// Black lies this many sigmas below the sky, so that noise is a texture and not a field of black holes.
    private static let depth = 2.0
    /// The end of the linear part, in sigmas above black.
    private static let softening = 3.0
    /// The range of white, in sigmas above the sky: a lower white would show noise alone, and a higher one only one star.
    private static let reaches = 60.0...5000.0

    /// - Parameter values: The pixels of the image, NaN for a missing one.
    init(samplesOf values: [Float]) {
        let step = max(1, values.count / Self.sampleSize)
        var sample: [Double] = []
        sample.reserveCapacity(values.count / step + 1)
        for index in stride(from: 0, to: values.count, by: step) where values[index].isFinite {
            sample.append(Double(values[index]))
        }
        sample.sort()
        let sky = SkyLevel(sorted: sample)
        // White is the value below which all but one in two thousand lie, so that one bright star does not darken the rest.
        let bright = sample.isEmpty ? 0 : sample[min(sample.count - 1, sample.count * 1999 / 2000)]
        let reach = min(max((bright - sky.level) / sky.sigma, Self.reaches.lowerBound), Self.reaches.upperBound)
        black = Float(sky.level - Self.depth * sky.sigma)
        scale = Float(1 / (Self.softening * sky.sigma))
        white = Float(asinh((reach + Self.depth) / Self.softening))
    }

    /// The grey of every value; 0 for NaN, and for values below black.
    func apply(to values: [Float]) -> [UInt8] {
        values.map { value in
            let grey = asinhf((value - black) * scale) / white
            // The test is false for NaN too. The power of 6/5 gives a dark sky on a screen, and clips nothing.
            return grey > 0 ? UInt8(min((255 * powf(grey, 1.2)).rounded(), 255)) : 0
        }
    }
}
