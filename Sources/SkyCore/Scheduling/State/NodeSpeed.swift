/// How slow a node is beside the others: 1 is average, 2 takes twice as long.
///
/// Durations are compared with the mean of the same job, so that a node that happened to get a job of long tasks is not
/// called slow. Measurements fade, so that a node that was slow once, for a reason long gone, gets work again.
struct NodeSpeed {
    private var slowness = 1.0
    private var measured: Duration = .zero

    /// Weight of one measurement: about the last five count.
    private static let weight = 0.3
    /// One odd task must not mark a node as slow for long.
    private static let ratioLimit = 16.0

    /// - Parameter ratio: the task's duration over the mean of its job.
    mutating func record(ratio: Double, now: Duration, halfLife: Duration) {
        guard ratio.isFinite else { return }
        let bounded = min(max(ratio, 1 / Self.ratioLimit), Self.ratioLimit)
        slowness = (1 - Self.weight) * faded(now: now, halfLife: halfLife) + Self.weight * bounded
        measured = now
    }

    /// 1 is average, 2 takes half as long; `nil` before the first measurement.
    func speed(now: Duration, halfLife: Duration) -> Double? {
        measured == .zero ? nil : 1 / faded(now: now, halfLife: halfLife)
    }

    /// Slowness in eighths. Smaller differences are noise, and nodes of equal rank are chosen in a stable order.
    func rank(now: Duration, halfLife: Duration) -> Int {
        Int(faded(now: now, halfLife: halfLife) * 8 + 0.5)
    }

    /// 1 is average, 2 takes twice as long; it is 1 before the first measurement.
    func slowness(now: Duration, halfLife: Duration) -> Double { faded(now: now, halfLife: halfLife) }

    private func faded(now: Duration, halfLife: Duration) -> Double {
        guard halfLife > .zero else { return 1 }
        // This is 2^-age, with a straight line between whole half-lives, so that no mathematics library is needed.
        let age = min(max(0, (now - measured) / halfLife), 60)
        let whole = Int(age)
        let remains = Double(sign: .plus, exponent: -whole, significand: 1 - (age - Double(whole)) / 2)
        return 1 + (slowness - 1) * remains
    }
}
