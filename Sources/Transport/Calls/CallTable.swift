import DequeModule

/// The calls one side of a link has made and not yet seen answered, and those that wait for their turn because the other side runs
/// as many as it allows, or because too many bytes wait to be written. It holds no clock: every method that needs the time takes
/// it, counted from the owner's start.
///
/// A call first takes a slot, by `enter` or, after waiting, by `nextTurn`. Then its arguments are encoded, and `open` or `giveBack`
/// follows. Waiting calls get their turns one after the other, each when the call before it has been opened. That keeps their
/// order.
package struct CallTable<Waiter> {
    /// What becomes of a new call.
    package enum Admission: Equatable {
        /// It has a slot.
        case go
        /// It waits its turn.
        case wait
        /// The link is gone.
        case closed
        /// So many calls wait already that one more would only make it worse.
        case congested
    }

    /// A call that is taken out of the table.
    package struct Taken {
        package var call: UInt64
        package var waiter: Waiter
        /// Whether the other side may know of it; otherwise it still waited for its turn.
        package var wasOpen: Bool
    }

    fileprivate struct Entry {
        var waiter: Waiter
        var isOpen: Bool
        var deadline: Duration
    }

    private let limit: Int
    private var entries = CallMap<Entry>()
    private var deadlines = DeadlineQueue()
    /// Calls that wait for their turn, in order; some may be gone already.
    private var order: Deque<UInt64> = []
    private var waitingCount = 0
    /// Slots taken: open calls, and those that are about to be.
    private var slots = 0
    /// Whether a call that waited has its slot and has not been opened yet.
    private var isHandingOver = false
    private var isClosed = false

    /// - Parameter limit: how many calls the other side runs at once.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Calls that wait for their answers or for their turn, and those about to be opened.
    package var count: Int { slots + waitingCount }

    /// Whether calls wait for their turn.
    package var hasWaiting: Bool { waitingCount > 0 }

    /// Deadlines held, including those of answered calls. A test uses the number to see that they do not pile up.
    var pendingDeadlines: Int { deadlines.count }

    /// Takes a slot if there is one and nobody waits for it.
    ///
    /// - Parameter hasRoom: whether the outbox takes another body now.
    package mutating func enter(hasRoom: Bool) -> Admission {
        if isClosed { return .closed }
        if waitingCount >= FrameLimits.waitingCalls { return .congested }
        guard waitingCount == 0, !isHandingOver, hasRoom, slots < limit else { return .wait }
        slots += 1
        return .go
    }

    /// Lets a call wait for its turn; `false` where the link has gone.
    package mutating func wait(_ call: UInt64, _ waiter: Waiter, deadline: Duration) -> Bool {
        guard !isClosed else { return false }
        entries[call] = Entry(waiter: waiter, isOpen: false, deadline: deadline)
        deadlines.insert(call, at: deadline)
        order.append(call)
        waitingCount += 1
        return true
    }

    /// Gives a slot to the next call that waits, and returns its waiter; `nil` where no call waits or there is no slot.
    package mutating func nextTurn(hasRoom: Bool) -> Waiter? {
        guard waitingCount > 0, !isHandingOver, hasRoom, slots < limit else { return nil }
        while let call = order.popFirst() {
            guard let entry = entries.removeValue(forKey: call) else { continue }
            waitingCount -= 1
            slots += 1
            isHandingOver = true
            return entry.waiter
        }
        return nil
    }

    /// Opens the call that has a slot. The result is `false` where the link has gone meanwhile.
    package mutating func open(_ call: UInt64, _ waiter: Waiter, deadline: Duration, waited: Bool) -> Bool {
        if waited { isHandingOver = false }
        guard !isClosed else { return false }
        entries[call] = Entry(waiter: waiter, isOpen: true, deadline: deadline)
        deadlines.insert(call, at: deadline)
        return true
    }

    /// Gives back the slot of a call that is not made after all.
    package mutating func giveBack(waited: Bool) {
        if waited { isHandingOver = false }
        if !isClosed { slots -= 1 }
    }

    /// Takes out the call that was answered or cancelled; `nil` for a late or unknown answer, which is dropped.
    package mutating func take(_ call: UInt64) -> Taken? {
        guard let entry = entries.removeValue(forKey: call) else { return nil }
        if entry.isOpen {
            slots -= 1
        } else {
            waitingCount -= 1
            if order.count > 64, order.count > 4 * waitingCount { order.removeAll { entries[$0]?.isOpen != false } }
        }
        deadlines.forgetDead(living: entries.count) { entries[$0] != nil }
        return Taken(call: call, waiter: entry.waiter, wasOpen: entry.isOpen)
    }

    /// Takes out a call for its answer, which only an open call can have.
    ///
    /// An answer that comes at the deadline or after it is late, also where nobody has called `expire` yet. The other side cancels
    /// the method at about that time, and what a cancelled method returns may be only part of the answer.
    package mutating func answer(_ call: UInt64, at now: Duration) -> (waiter: Waiter, isLate: Bool)? {
        guard let entry = entries[call], entry.isOpen else { return nil }
        _ = take(call)
        return (entry.waiter, entry.deadline <= now)
    }

    /// Takes out every call whose time is over.
    package mutating func expire(at now: Duration) -> [Taken] {
        var expired: [Taken] = []
        while let call = deadlines.popDue(at: now) {
            if let taken = take(call) { expired.append(taken) }
        }
        return expired
    }

    /// When `expire` is due next.
    package mutating func nextDeadline() -> Duration? {
        deadlines.next { entries[$0] != nil }
    }

    /// Takes out everything and lets nothing in any more, because the link is gone.
    package mutating func close() -> [Taken] {
        isClosed = true
        defer {
            entries = CallMap()
            order = []
            deadlines = DeadlineQueue()
            slots = 0
            waitingCount = 0
        }
        return entries.all.map { Taken(call: $0.call, waiter: $0.value.waiter, wasOpen: $0.value.isOpen) }
    }
}

extension CallTable: Sendable where Waiter: Sendable {}
extension CallTable.Entry: Sendable where Waiter: Sendable {}
extension CallTable.Taken: Sendable where Waiter: Sendable {}
