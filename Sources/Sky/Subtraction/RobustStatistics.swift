/// The middle and the spread of values, even if some of them are wrong.
enum RobustStatistics {
    /// The number of standard deviations of a normal distribution in one median absolute deviation.
    static let sigmasPerDeviation = 1.4826

    /// The median, the upper one if the number of values is even; `nil` for no values. Values must not be NaN.
    static func median(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }

    /// The median, and the standard deviation that a normal distribution with the same median absolute deviation has.
    static func spread(_ values: [Double]) -> (middle: Double, sigma: Double)? {
        guard let middle = median(values), let deviation = median(values.map { abs($0 - middle) }) else { return nil }
        return (middle, deviation * sigmasPerDeviation)
    }

    /// The same in single precision, for pixels.
    static func spread(_ values: [Float]) -> (middle: Float, sigma: Float)? {
        guard !values.isEmpty else { return nil }
        let middle = values.sorted()[values.count / 2]
        let deviation = values.map { abs($0 - middle) }.sorted()[values.count / 2]
        return (middle, deviation * Float(sigmasPerDeviation))
    }
}
