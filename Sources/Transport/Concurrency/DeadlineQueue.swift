import DequeModule
import HeapModule

/// The deadlines of many calls, or of many waits, in one structure, so that one timer serves them all. A call that ends leaves its
/// deadline behind until that is due or the dead outnumber the living.
///
/// Most calls have the same time limit, so that each deadline is later than all before it. These are in a row, where the next goes to
/// the end; only the others are in a heap.
struct DeadlineQueue: Sendable {
    private struct Deadline: Comparable, Sendable {
        var time: Duration
        var call: UInt64

        static func < (left: Deadline, right: Deadline) -> Bool {
            (left.time, left.call) < (right.time, right.call)
        }
    }

    private var row: Deque<Deadline> = []
    private var heap = Heap<Deadline>()

    /// Deadlines held, those of ended calls included.
    var count: Int { row.count + heap.count }

    mutating func insert(_ call: UInt64, at time: Duration) {
        let deadline = Deadline(time: time, call: call)
        if let last = row.last, time < last.time { heap.insert(deadline) } else { row.append(deadline) }
    }

    /// Drops the deadlines of ended calls. Without this a fast link would collect as many deadlines as it makes calls within one
    /// deadline. It is called when a call has ended, and costs a constant share of the calls' own cost.
    mutating func forgetDead(living: Int, isLiving: (UInt64) -> Bool) {
        guard count > 64, count > 4 * living else { return }
        row.removeAll { !isLiving($0.call) }
        if !heap.isEmpty { heap = Heap(heap.unordered.filter { isLiving($0.call) }) }
    }

    /// Takes out a call whose time is over, even if it has ended already; `nil` where there is none.
    mutating func popDue(at now: Duration) -> UInt64? {
        guard let first = earliest, first.time <= now else { return nil }
        removeEarliest()
        return first.call
    }

    /// When the next deadline of a call that has not ended is due.
    mutating func next(isLiving: (UInt64) -> Bool) -> Duration? {
        while let first = earliest, !isLiving(first.call) { removeEarliest() }
        return earliest?.time
    }

    private var earliest: Deadline? {
        guard let first = row.first else { return heap.min }
        return heap.min.map { min($0, first) } ?? first
    }

    private mutating func removeEarliest() {
        if let first = row.first, heap.min.map({ first < $0 }) ?? true {
            row.removeFirst()
        } else if !heap.isEmpty {
            heap.removeMin()
        }
    }
}
