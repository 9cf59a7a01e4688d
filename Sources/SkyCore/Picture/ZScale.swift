/// Display limits that show the sky and what is just above it: the zscale algorithm of IRAF's `display` task
/// (Tody 1986, "The IRAF Data Reduction and Analysis System"; described in the task's help page).
///
/// A straight line is fitted to the sorted values of a sample, outliers rejected; its slope, divided by the contrast,
/// gives the limits around the median. The line follows the flat middle of the values, the sky, and not the stars.
struct ZScale: Hashable {
    /// Value shown as black, IRAF's z1.
    let low: Double
    /// Value shown as white on a linear scale, IRAF's z2.
    let high: Double

    /// IRAF's default.
    private static let contrast = 0.25
    private static let rejection = 2.5
    private static let iterations = 5
    private static let fewest = 5

    /// - Parameter sample: values in ascending order, all finite, at least one.
    init(sorted sample: [Double]) {
        let count = sample.count
        guard let least = sample.first, let most = sample.last else {
            self.low = 0
            self.high = 1
            return
        }
        let middle = Double(count - 1) / 2
        let median = (sample[(count - 1) / 2] + sample[count / 2]) / 2
        guard count >= Self.fewest, let slope = Self.slope(sample), slope > 0 else {
            self.low = least
            self.high = most
            return
        }
        self.low = max(least, median - middle * slope / Self.contrast)
        self.high = min(most, median + middle * slope / Self.contrast)
    }

    /// Slope of the line per rank; `nil` where more than half of the values were rejected: then they are no sky.
    private static func slope(_ sample: [Double]) -> Double? {
        let count = sample.count
        let grow = max(1, count / 100)
        var good = [Bool](repeating: true, count: count)
        var kept = count
        var slope = 0.0
        for _ in 0..<iterations {
            var (n, sx, sy, sxx, sxy) = (0.0, 0.0, 0.0, 0.0, 0.0)
            for index in 0..<count where good[index] {
                let x = Double(index)
                n += 1
                sx += x
                sy += sample[index]
                sxx += x * x
                sxy += x * sample[index]
            }
            let determinant = n * sxx - sx * sx
            guard n >= 2, determinant > 0 else { return nil }
            slope = (n * sxy - sx * sy) / determinant
            let start = (sy - slope * sx) / n
            var squares = 0.0
            for index in 0..<count where good[index] {
                let residual = sample[index] - start - slope * Double(index)
                squares += residual * residual
            }
            let limit = rejection * (squares / n).squareRoot()
            // A rejected value takes its neighbours with it, as in IRAF: the tail of a bright star is not the sky.
            var next = good
            for index in 0..<count where good[index] {
                guard abs(sample[index] - start - slope * Double(index)) > limit else { continue }
                for near in max(0, index - grow)...min(count - 1, index + grow) { next[near] = false }
            }
            good = next
            let remaining = good.count { $0 }
            guard remaining >= max(fewest, count / 2) else { return nil }
            if remaining == kept { break }
            kept = remaining
        }
        return slope
    }
}
