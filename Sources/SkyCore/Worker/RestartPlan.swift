/// When a worker process may be started again after starts have failed. The pauses grow, so that a node whose installation
/// is broken neither burns its processor nor fails every task of the cluster within a second.
struct RestartPlan {
    static let first = Duration.milliseconds(100)
    static let longest = Duration.seconds(10)

    private var failures = 0
    private var next: ContinuousClock.Instant?

    /// How long to wait before the next start; `nil` if it may be made now.
    func pause(at now: ContinuousClock.Instant) -> Duration? {
        guard let next, next > now else { return nil }
        return next - now
    }

    mutating func failed(at now: ContinuousClock.Instant) {
        // Starts that waited together fail together, and count once.
        if let next, next > now { return }
        // Ten doublings pass the limit.
        let pause = min(RestartPlan.longest, RestartPlan.first * (1 << min(failures, 10)))
        failures += 1
        next = now + pause
    }

    mutating func succeeded() { self = RestartPlan() }
}
