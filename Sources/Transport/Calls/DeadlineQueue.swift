import HeapModule

/// The deadlines of many calls in one structure, so that one timer serves them all. A call that ends leaves its
/// deadline behind until that is due or the dead outnumber the living.
struct DeadlineQueue: Sendable {
    private struct Deadline: Comparable, Sendable {
        var time: Duration
        var call: UInt64

        static func < (left: Deadline, right: Deadline) -> Bool {
            (left.time, left.call) < (right.time, right.call)
        }
    }

    private var deadlines = Heap<Deadline>()

    /// Deadlines held, those of ended calls included.
    var count: Int { deadlines.count }

    mutating func insert(_ call: UInt64, at time: Duration) {
        deadlines.insert(Deadline(time: time, call: call))
    }

    /// Drops the deadlines of ended calls. Without this a fast link would collect as many deadlines as it makes calls within one
    /// deadline. It is called when a call has ended, and costs a constant share of the calls' own cost.
    mutating func forgetDead(living: Int, isLiving: (UInt64) -> Bool) {
        guard deadlines.count > 64, deadlines.count > 4 * living else { return }
        deadlines = Heap(deadlines.unordered.filter { isLiving($0.call) })
    }

    /// Takes out a call whose time is over, even if it has ended already; `nil` where there is none.
    mutating func popDue(at now: Duration) -> UInt64? {
        guard let first = deadlines.min, first.time <= now else { return nil }
        return deadlines.removeMin().call
    }

    /// When the next deadline of a call that has not ended is due.
    mutating func next(isLiving: (UInt64) -> Bool) -> Duration? {
        while let first = deadlines.min, !isLiving(first.call) { deadlines.removeMin() }
        return deadlines.min?.time
    }
}
