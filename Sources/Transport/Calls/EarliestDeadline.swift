import Synchronization

/// A lower bound of the deadlines of both sides' calls on one link, read without a lock. It falls with every earlier
/// deadline and rises only when somebody has looked at all of them.
final class EarliestDeadline: Sendable {
    private let nanoseconds = Atomic<Int64>(.max)

    var earliest: Duration { .nanoseconds(nanoseconds.load(ordering: .acquiring)) }

    /// To be called after the deadline can be found by whoever looks at all of them, and before it is told to do so.
    func add(_ deadline: Duration) {
        let (seconds, attoseconds) = deadline.components
        guard seconds < Int64.max / 1_000_000_000 else { return }
        let value = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        // Hardly ever earlier than what is there: most calls have the same time.
        if value < nanoseconds.load(ordering: .relaxed) { nanoseconds.min(value, ordering: .acquiringAndReleasing) }
    }

    /// To be called before all deadlines are looked at, so that one that comes meanwhile is not missed.
    func reset() {
        nanoseconds.store(.max, ordering: .releasing)
    }
}
