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

    /// The grey of a value; 0 for NaN, and for values below black.
    func grey(_ value: Float) -> UInt8 {
        let grey = asinhf((value - black) * scale) / white
        // The test is false for NaN too. The power of 6/5 gives a dark sky on a screen, and clips nothing.
        return grey > 0 ? UInt8(min((255 * powf(grey, 1.2)).rounded(), 255)) : 0
    }

    /// The grey of every value, as `grey` has it.
    func apply(to values: [Float]) -> [UInt8] {
        // The logarithm and the power of two million pixels would take longer than to read the image. A table takes as long as a
        // few thousand pixels, so a small picture does without one.
        guard values.count > 8 * Table.binCount, let table = Table(self) else { return values.map(grey) }
        return values.map { table.grey($0) ?? grey($0) }
    }
}

extension GreyStretch {
    /// The greys of the sky and of what is a little brighter, which is nearly all of an image.
    private struct Table {
        static let binCount = 4096
        /// The curve is steepest at the sky, where a sigma has fifteen greys if white is as low as it can be.
        private static let binsPerSigma: Float = 64

        private let black: Float
        private let binsPerValue: Float
        /// The grey at the beginning of each bin.
        private var bins = [UInt8](repeating: 0, count: binCount)
        /// The smallest value that has at least this grey; infinite where no value in a bin has it.
        private var thresholds = [Float](repeating: .infinity, count: 257)

        /// The result is `nil` where a bin would have several thresholds, because the noise is as small as the steps of the numbers.
        init?(_ stretch: GreyStretch) {
            black = stretch.black
            binsPerValue = stretch.scale * Float(GreyStretch.softening) * Table.binsPerSigma
            thresholds[0] = -.infinity
            var (low, grey) = (black, stretch.grey(black))
            for bin in bins.indices {
                bins[bin] = grey
                let high = black + Float(bin + 1) / binsPerValue
                let above = stretch.grey(high)
                if above > grey {
                    guard above - grey == 1 else { return nil }
                    thresholds[Int(above)] = stretch.threshold(above, low, high)
                }
                (low, grey) = (high, above)
            }
        }

        /// The grey of a value; `nil` for one that is in no bin.
        func grey(_ value: Float) -> UInt8? {
            let place = (value - black) * binsPerValue
            guard place >= 0, place < Float(Table.binCount) else { return nil }
            let found = Int(bins[Int(place)])
            // The place is rounded, so the value may lie beyond either end of its bin.
            return UInt8(value >= thresholds[found + 1] ? found + 1 : value < thresholds[found] ? found - 1 : found)
        }
    }

    /// The smallest value above `low` that has at least this grey, which `high` has.
    private func threshold(_ level: UInt8, _ low: Float, _ high: Float) -> Float {
        var (low, high) = (low, high)
        while case let middle = low + (high - low) / 2, middle > low, middle < high {
            if grey(middle) < level { low = middle } else { high = middle }
        }
        return high
    }
}
