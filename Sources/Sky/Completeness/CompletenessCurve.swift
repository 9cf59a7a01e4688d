/// The share of stars that is found, as a function of magnitude. Of all functions that never rise, it is the one nearest to the
/// counts.
///
/// It uses isotonic regression by pooling adjacent violators (Ayer et al. 1955, Ann. Math. Stat. 26, 641), so that one lucky or
/// unlucky bin does not decide where the curve crosses a level.
struct CompletenessCurve {
    private var magnitudes: [Double] = []
    private var shares: [Double] = []

    /// Bins without stars are left out.
    init(_ bins: [InjectionReport.Bin]) {
        var pools: [(share: Double, weight: Double, bins: Int)] = []
        for bin in bins where bin.stars > 0 {
            magnitudes.append((bin.low + bin.high) / 2)
            pools.append((Double(bin.found) / Double(bin.stars), Double(bin.stars), 1))
            while pools.count > 1, pools[pools.count - 2].share < pools[pools.count - 1].share {
                let last = pools.removeLast()
                let first = pools.removeLast()
                let weight = first.weight + last.weight
                let share = (first.share * first.weight + last.share * last.weight) / weight
                pools.append((share, weight, first.bins + last.bins))
            }
        }
        shares = pools.flatMap { Array(repeating: $0.share, count: $0.bins) }
    }

    /// The magnitude at which the curve falls below a share, between the middles of two bins; `nil` if all or none of the bins
    /// reach it.
    func magnitude(at share: Double) -> Double? {
        guard let after = shares.firstIndex(where: { $0 < share }), after > 0 else { return nil }
        let (high, low) = (shares[after - 1], shares[after])
        let part = (high - share) / (high - low)
        return magnitudes[after - 1] + part * (magnitudes[after] - magnitudes[after - 1])
    }
}
