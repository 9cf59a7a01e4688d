/// The range of the true share that a number of successes indicates, with 95 % confidence (Wilson 1927, J. Am. Stat. Assoc. 22,
/// 209).
///
/// Unlike the usual error bar, it does not shrink to nothing if all or none succeeded.
package struct WilsonInterval: Hashable, Sendable {
    package let low: Double
    package let high: Double

    /// Normal quantile of 97.5 %.
    private static let quantile = 1.959_964

    /// Without any trial every share is possible.
    init(_ successes: Int, of trials: Int) {
        guard trials > 0 else {
            (low, high) = (0, 1)
            return
        }
        let (n, p) = (Double(trials), Double(successes) / Double(trials))
        let square = Self.quantile * Self.quantile
        let centre = (p + square / (2 * n)) / (1 + square / n)
        let half = Self.quantile / (1 + square / n) * (p * (1 - p) / n + square / (4 * n * n)).squareRoot()
        // At the ends the formula is exact, but its rounding is not.
        low = successes == 0 ? 0 : max(0, centre - half)
        high = successes == trials ? 1 : min(1, centre + half)
    }
}
