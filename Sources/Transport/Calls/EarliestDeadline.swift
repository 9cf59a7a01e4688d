import Synchronization

/// A lower bound of the deadlines of both sides' calls on one link, read without a lock. It falls with every earlier
/// deadline and rises only when somebody has looked at all of them.
final class EarliestDeadline: Sendable {
    private let nanoseconds = Atomic<Int64>(.max)

    var earliest: Duration { .nanoseconds(nanoseconds.load(ordering: .acquiring)) }

    /// Call this after the deadline can be found by a look at all deadlines, and before anybody is told to take that look.
    func add(_ deadline: Duration) {
        // It is hardly ever earlier than the one that is there: most calls have the same time limit. To find that out takes no
        // division.
        if earliest <= deadline { return }
        let (seconds, attoseconds) = deadline.components
        guard seconds < Int64.max / 1_000_000_000 else { return }
        let value = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        nanoseconds.min(value, ordering: .acquiringAndReleasing)
    }

    /// Call this before all deadlines are looked at, so that a deadline that comes meanwhile is not missed.
    func reset() {
        nanoseconds.store(.max, ordering: .releasing)
    }
}
