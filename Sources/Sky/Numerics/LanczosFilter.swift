import Glibc

/// Interpolation by sinc(x) sinc(x/3) over six pixels in each direction, the usual choice for resampling stars (Duchon 1979, J.
/// Appl. Meteorology 18, 1016; SWarp's default).
struct LanczosFilter {
    /// The weights of six neighbours for each step between two pixels. The sum of each row is one, so a constant image stays
    /// constant.
    private let weights = Self.table

    /// The number of pixels to the left of the one below the place; below, the number of all pixels.
    static let before = 2
    static let taps = 6
    /// The number of steps between two pixels. The error of a place is at most a four-thousandth of a pixel.
    private static let steps = 2048

    /// The same for all filters of a process.
    private static let table: [Float] = {
        var weights: [Float] = []
        weights.reserveCapacity((steps + 1) * taps)
        for step in 0...steps {
            let fraction = Double(step) / Double(steps)
            let row = (0..<taps).map { kernel(Double($0 - before) - fraction) }
            let sum = row.reduce(0, +)
            weights += row.map { Float($0 / sum) }
        }
        return weights
    }()

    private static func kernel(_ x: Double) -> Double {
        if x == 0 { return 1 }
        guard abs(x) < 3 else { return 0 }
        let t = Double.pi * x
        return 3 * sin(t) * sin(t / 3) / (t * t)
    }

    /// The index in `table` at which the weights of a fraction of a pixel begin.
    private static func row(_ fraction: Double) -> Int { Int(fraction * Double(steps) + 0.5) * taps }

    /// The value of a grid of `width` columns at a place; `nil` if its neighbours are not all inside.
    func value(
        of values: UnsafePointer<Float>, width: Int, height: Int, x: Double, y: Double
    ) -> Float? {
        // The test is false for NaN as well.
        guard x >= Double(Self.before), y >= Double(Self.before), x < Double(width - 3), y < Double(height - 3) else {
            return nil
        }
        let (column, row) = (Int(x), Int(y))
        let (h, v) = (Self.row(x - Double(column)), Self.row(y - Double(row)))
        return weights.withUnsafeBufferPointer { weights in
            var sum: Float = 0
            for j in 0..<Self.taps {
                let start = (row + j - Self.before) * width + column - Self.before
                let line =
                    weights[h] * values[start] + weights[h + 1] * values[start + 1]
                    + weights[h + 2] * values[start + 2] + weights[h + 3] * values[start + 3]
                    + weights[h + 4] * values[start + 4] + weights[h + 5] * values[start + 5]
                sum += weights[v + j] * line
            }
            return sum
        }
    }
}
