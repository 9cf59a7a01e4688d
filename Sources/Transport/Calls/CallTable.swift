import HeapModule

/// The calls one side of a link has made and not yet seen answered. Holds no clock: every method that needs the
/// time takes it, counted from the owner's start.
package struct CallTable<Waiter> {
    private struct Deadline: Comparable {
        var time: Duration
        var call: UInt64

        static func < (left: Deadline, right: Deadline) -> Bool {
            (left.time, left.call) < (right.time, right.call)
        }
    }

    private var waiters: [UInt64: Waiter] = [:]
    private var deadlines = Heap<Deadline>()
    private var lastCall: UInt64 = 0
    /// Set by `close`; no call can be opened afterwards.
    package private(set) var isClosed = false

    package init() {}

    package var count: Int { waiters.count }

    /// Deadlines held, those of answered calls included; for the test that they do not pile up.
    var pendingDeadlines: Int { deadlines.count }

    /// Enters a call and gives its id, or `nil` once the link is gone.
    package mutating func open(_ waiter: Waiter, deadline: Duration) -> UInt64? {
        guard !isClosed else { return nil }
        lastCall += 1
        waiters[lastCall] = waiter
        deadlines.insert(Deadline(time: deadline, call: lastCall))
        return lastCall
    }

    /// Takes out the call that was answered or cancelled; `nil` for a late or unknown answer, which is dropped.
    package mutating func take(_ call: UInt64) -> Waiter? {
        let waiter = waiters.removeValue(forKey: call)
        // Answered calls leave their deadline behind; without this a fast link would collect
        // as many as it makes calls within a deadline.
        if deadlines.count > 64, deadlines.count > 4 * waiters.count {
            deadlines = Heap(deadlines.unordered.filter { waiters[$0.call] != nil })
        }
        return waiter
    }

    /// Takes out every call whose time is over.
    package mutating func expire(at now: Duration) -> [(call: UInt64, waiter: Waiter)] {
        var expired: [(call: UInt64, waiter: Waiter)] = []
        while let first = deadlines.min, first.time <= now {
            deadlines.removeMin()
            if let waiter = waiters.removeValue(forKey: first.call) { expired.append((first.call, waiter)) }
        }
        return expired
    }

    /// When `expire` is due next.
    package mutating func nextDeadline() -> Duration? {
        while let first = deadlines.min, waiters[first.call] == nil { deadlines.removeMin() }
        return deadlines.min?.time
    }

    /// The link is gone: takes out everything and lets nothing in any more.
    package mutating func close() -> [Waiter] {
        isClosed = true
        let all = Array(waiters.values)
        waiters = [:]
        deadlines = Heap()
        return all
    }
}
