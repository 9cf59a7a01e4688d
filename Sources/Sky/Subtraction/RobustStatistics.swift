/// Middle and spread of values some of which are wrong.
enum RobustStatistics {
    /// Standard deviations of a normal distribution in one median absolute deviation.
    static let sigmasPerDeviation = 1.4826

    /// The median, the upper one of an even number; `nil` of nothing. Values must be numbers.
    static func median<Value: Comparable>(_ values: [Value]) -> Value? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }

    /// Median, and the standard deviation that a normal distribution of the same median absolute deviation has.
    static func spread(_ values: [Double]) -> (middle: Double, sigma: Double)? {
        guard let middle = median(values), let deviation = median(values.map { abs($0 - middle) }) else { return nil }
        return (middle, deviation * sigmasPerDeviation)
    }

    /// The same in single precision, of pixels.
    static func spread(_ values: [Float]) -> (middle: Float, sigma: Float)? {
        guard let middle = median(values), let deviation = median(values.map { abs($0 - middle) }) else { return nil }
        return (middle, deviation * Float(sigmasPerDeviation))
    }
}
