/// A cubic spline through evenly spaced nodes with no curvature at its ends.
enum NaturalSpline {
    /// The second derivatives at the nodes, over six, in the single precision and the order of SExtractor and SEP:
    /// one elimination down, one substitution up.
    static func secondDerivatives(_ nodes: [Float]) -> [Float] {
        let count = nodes.count
        var result = [Float](repeating: 0, count: count)
        guard count > 2 else { return result }
        var sums = result
        for index in 1..<count - 1 {
            let pivot = -1 / (result[index - 1] + 4)
            result[index] = pivot
            sums[index] = pivot * (sums[index - 1] - 6 * (nodes[index + 1] + nodes[index - 1] - 2 * nodes[index]))
        }
        for index in (1..<count - 1).reversed() {
            result[index] = Float(Double(result[index] * result[index + 1] + sums[index]) / 6)
        }
        return result
    }
}
