import DequeModule

/// The calls one side of a link has made and not yet seen answered. Keeps the other side's limit of calls at once:
/// what exceeds it waits here, in order. Holds no clock: every method that needs the time takes it, counted from the
/// owner's start.
package struct CallTable<Waiter> {
    /// What becomes of a new call.
    package enum Admission: Equatable {
        /// Send its frame now.
        case send
        /// It waits its turn; `nextToSend` gives its frame.
        case wait
        /// The link is gone.
        case closed
        /// So many wait already that one more would only make it worse.
        case congested
    }

    fileprivate struct Entry {
        var waiter: Waiter
        var isSent: Bool
    }

    private let limit: Int
    private var entries: [UInt64: Entry] = [:]
    private var deadlines = DeadlineQueue()
    /// Frames that wait, by call, and their order. The order may name calls that are gone.
    private var frames: [UInt64: Frame] = [:]
    private var order: Deque<UInt64> = []
    private var sentCount = 0
    private var isClosed = false

    /// - Parameter limit: how many calls the other side runs at once.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Calls that wait for their answers or for their turn.
    package var count: Int { entries.count }

    /// Whether calls wait for their turn.
    package var hasWaiting: Bool { !frames.isEmpty }

    /// Deadlines held, those of answered calls included; for the test that they do not pile up.
    var pendingDeadlines: Int { deadlines.count }

    /// Enters a call.
    ///
    /// - Parameter hasRoom: whether the outbox takes another body now.
    package mutating func open(_ call: UInt64, _ waiter: Waiter, deadline: Duration, frame: Frame, hasRoom: Bool)
        -> Admission
    {
        guard !isClosed else { return .closed }
        guard frames.count < FrameLimits.waitingCalls else { return .congested }
        deadlines.insert(call, at: deadline)
        let sends = frames.isEmpty && hasRoom && sentCount < limit
        entries[call] = Entry(waiter: waiter, isSent: sends)
        if sends {
            sentCount += 1
            return .send
        }
        frames[call] = frame
        order.append(call)
        return .wait
    }

    /// The frame whose turn it is, as long as the other side runs fewer calls than it allows.
    package mutating func nextToSend() -> Frame? {
        while sentCount < limit, let call = order.popFirst() {
            guard let frame = frames.removeValue(forKey: call) else { continue }
            entries[call]?.isSent = true
            sentCount += 1
            return frame
        }
        return nil
    }

    /// Takes out the call that was answered or cancelled, and tells whether it had been sent; `nil` for a late or
    /// unknown answer, which is dropped.
    package mutating func take(_ call: UInt64) -> (waiter: Waiter, wasSent: Bool)? {
        guard let entry = entries.removeValue(forKey: call) else { return nil }
        if entry.isSent {
            sentCount -= 1
        } else {
            frames[call] = nil
            if order.count > 64, order.count > 4 * frames.count { order.removeAll { frames[$0] == nil } }
        }
        deadlines.forgetDead(living: entries.count) { entries[$0] != nil }
        return (entry.waiter, entry.isSent)
    }

    /// Takes out every call whose time is over.
    package mutating func expire(at now: Duration) -> [(call: UInt64, waiter: Waiter, wasSent: Bool)] {
        var expired: [(call: UInt64, waiter: Waiter, wasSent: Bool)] = []
        while let call = deadlines.popDue(at: now) {
            if let (waiter, wasSent) = take(call) { expired.append((call, waiter, wasSent)) }
        }
        return expired
    }

    /// When `expire` is due next.
    package mutating func nextDeadline() -> Duration? {
        deadlines.next { entries[$0] != nil }
    }

    /// The link is gone: takes out everything and lets nothing in any more.
    package mutating func close() -> [(call: UInt64, waiter: Waiter, wasSent: Bool)] {
        isClosed = true
        defer {
            entries = [:]
            frames = [:]
            order = []
            deadlines = DeadlineQueue()
            sentCount = 0
        }
        return entries.map { ($0.key, $0.value.waiter, $0.value.isSent) }
    }
}

extension CallTable: Sendable where Waiter: Sendable {}
extension CallTable.Entry: Sendable where Waiter: Sendable {}
