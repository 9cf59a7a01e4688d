/// Cubic splines through evenly spaced nodes, with no curvature at their ends.
struct NaturalSpline {
    /// The pivots of the elimination, which depend on the number of nodes only.
    private let pivots: [Float]

    /// - Parameter count: The number of nodes of each spline.
    init(nodes count: Int) {
        var pivots = [Float](repeating: 0, count: count)
        if count > 2 { for index in 1..<count - 1 { pivots[index] = -1 / (pivots[index - 1] + 4) } }
        self.pivots = pivots
    }

    /// The second derivatives at the nodes, over six, of eight splines at a time. They are computed in the single precision and
    /// the order of SExtractor and SEP: one elimination down, one substitution up.
    ///
    /// SExtractor and SEP divide by six in double precision and then round to single. Single precision gives the same result
    /// (double has more than twice the digits).
    func secondDerivatives(_ nodes: [SIMD8<Float>]) -> [SIMD8<Float>] {
        let count = pivots.count
        var sums = [SIMD8<Float>](repeating: .zero, count: count)
        guard count > 2, nodes.count == count else { return sums }
        for index in 1..<count - 1 {
            let curvature = 6 * (nodes[index + 1] + nodes[index - 1] - 2 * nodes[index])
            sums[index] = pivots[index] * (sums[index - 1] - curvature)
        }
        for index in (1..<count - 1).reversed() {
            sums[index] = (pivots[index] * sums[index + 1] + sums[index]) / 6
        }
        return sums
    }
}
