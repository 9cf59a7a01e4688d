/// A cubic spline through evenly spaced nodes, with no curvature at its ends.
enum NaturalSpline {
    /// The second derivatives at the nodes, over six, of eight splines at a time. They are computed in the single precision and
    /// the order of SExtractor and SEP: one elimination down, one substitution up.
    ///
    /// SExtractor and SEP divide by six in double precision and then round to single. Single precision gives the same result
    /// (double has more than twice the digits).
    static func secondDerivatives(_ nodes: [SIMD8<Float>]) -> [SIMD8<Float>] {
        let count = nodes.count
        var sums = [SIMD8<Float>](repeating: .zero, count: count)
        guard count > 2 else { return sums }
        var pivots = [Float](repeating: 0, count: count)
        for index in 1..<count - 1 {
            let pivot = -1 / (pivots[index - 1] + 4)
            pivots[index] = pivot
            let curvature = 6 * (nodes[index + 1] + nodes[index - 1] - 2 * nodes[index])
            sums[index] = pivot * (sums[index - 1] - curvature)
        }
        for index in (1..<count - 1).reversed() {
            sums[index] = (pivots[index] * sums[index + 1] + sums[index]) / 6
        }
        return sums
    }

    /// The same for one spline.
    static func secondDerivatives(_ nodes: [Float]) -> [Float] {
        secondDerivatives(nodes.map { SIMD8(repeating: $0) }).map { $0[0] }
    }
}
