/// The middle and the spread of values, even if some of them are wrong.
enum RobustStatistics {
    /// The number of standard deviations of a normal distribution in one median absolute deviation.
    static let sigmasPerDeviation = 1.4826

    /// The median, the upper one if the number of values is even; `nil` for no values. Values must not be NaN.
    static func median<Value: Comparable>(_ values: [Value]) -> Value? {
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
        var values = values
        let middle = upperMedian(&values)
        for index in values.indices { values[index] = abs(values[index] - middle) }
        return (middle, upperMedian(&values) * Float(sigmasPerDeviation))
    }

    /// Fewer values are sorted.
    private static let fewest = 16
    /// Some thirty turns find the median of a million values. Where so many do not, the rest is sorted: no values make it take long.
    private static let mostTurns = 60

    /// The upper median of some values, whose order it changes: selection (Hoare 1961, Communications of the ACM 4, 321) instead of
    /// sorting, because the pixels of a frame are most of what is ever sorted here.
    private static func upperMedian(_ values: inout [Float]) -> Float {
        let rank = values.count / 2
        return values.withUnsafeMutableBufferPointer { values in
            var (low, high) = (0, values.count)
            var turns = 0
            while high - low > fewest, turns < mostTurns {
                turns += 1
                let (first, middle, last) = (values[low], values[(low + high) / 2], values[high - 1])
                let pivot = max(min(first, middle), min(max(first, middle), last))
                let split = partition(values, low..<high) { $0 < pivot }
                if rank < split {
                    high = split
                } else if split > low {
                    low = split
                } else {
                    // Nothing is smaller than the pivot; what equals it may be most of the values.
                    low = partition(values, low..<high) { $0 <= pivot }
                    if rank < low { return pivot }
                }
            }
            values[low..<high].sort()
            return values[rank]
        }
    }

    /// Moves the values of a range that come first to its beginning, and returns where the others begin. Without a branch, which a
    /// processor would guess wrong every other time.
    @inline(__always)
    private static func partition(
        _ values: UnsafeMutableBufferPointer<Float>, _ range: Range<Int>, comesFirst: (Float) -> Bool
    ) -> Int {
        var split = range.lowerBound
        for index in range {
            let value = values[index]
            values[index] = values[split]
            values[split] = value
            split += comesFirst(value) ? 1 : 0
        }
        return split
    }
}
