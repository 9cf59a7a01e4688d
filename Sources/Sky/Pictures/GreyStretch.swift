import Glibc

/// Turns pixel values into 8-bit grey so that the faint and the bright are seen at once: linear around the sky, logarithmic
/// above, by the inverse hyperbolic sine (Lupton et al. 2004, PASP 116, 133), in units of the sky's own noise. What lies a
/// little above the noise is then seen in any image, however bright the brightest is.
struct GreyStretch {
    private let black: Float
    private let scale: Float
    private let white: Float

    /// Values that the limits are taken from; more would not change them visibly.
    private static let sampleSize = 10_000
    /// Black lies so many sigmas below the sky: noise stays a texture, not a field of black holes.
    private static let depth = 2.0
    /// Where the linear part ends, in sigmas above black.
    private static let softening = 3.0
    /// What is white, in sigmas above the sky: less would show noise alone, and more would show one star.
    private static let reaches = 60.0...5000.0

    /// - Parameter values: the image; NaN where it has none.
    init(samplesOf values: [Float]) {
        let step = max(1, values.count / Self.sampleSize)
        var sample: [Double] = []
        sample.reserveCapacity(values.count / step + 1)
        for index in stride(from: 0, to: values.count, by: step) where values[index].isFinite {
            sample.append(Double(values[index]))
        }
        sample.sort()
        let sky = SkyLevel(sorted: sample)
        // White where one value in two thousand lies above, so that one bright star does not darken the rest.
        let bright = sample.isEmpty ? 0 : sample[min(sample.count - 1, sample.count * 1999 / 2000)]
        let reach = min(max((bright - sky.level) / sky.sigma, Self.reaches.lowerBound), Self.reaches.upperBound)
        black = Float(sky.level - Self.depth * sky.sigma)
        scale = Float(1 / (Self.softening * sky.sigma))
        white = Float(asinh((reach + Self.depth) / Self.softening))
    }

    /// Grey of every value; 0 for NaN, and for what lies below black.
    func apply(to values: [Float]) -> [UInt8] {
        values.map { value in
            let grey = asinhf((value - black) * scale) / white
            // False for NaN too. The power of 6/5 makes for a dark sky on a screen, and clips nothing.
            return grey > 0 ? UInt8(min((255 * powf(grey, 1.2)).rounded(), 255)) : 0
        }
    }
}
