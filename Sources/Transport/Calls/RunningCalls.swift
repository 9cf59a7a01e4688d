/// The calls of one peer that run on this side, as a value: how many at once, which of them are to be cancelled and
/// when their time is over. `Handle` is what cancels one.
package struct RunningCalls<Handle> {
    package enum Admission: Equatable {
        case run
        /// The peer makes more calls than it was told that it may: it gets an error as its reply.
        case busy
        /// The peer makes far more calls than that, or makes one call twice: it gets no reply.
        case abuse
    }

    fileprivate enum Entry {
        /// Admitted; its handle is not known yet.
        case starting(isCancelled: Bool)
        case running(Handle)
    }

    private let limit: Int
    private var entries = CallMap<Entry>()
    private var deadlines = DeadlineQueue()

    /// - Parameter limit: how many calls run at once. The peer was told this number.
    package init(limit: Int) {
        self.limit = limit
    }

    /// The limit of calls that run and answers that wait, together. A peer beyond it gets no reply. An honest peer never gets
    /// there, because it makes no more calls than it was told before it has read answers.
    package static func unansweredLimit(_ limit: Int) -> Int { 4 * limit + 64 }

    package var count: Int { entries.count }

    /// - Parameter unanswered: answers to this peer that wait to be written. They count against a second limit, so that a peer
    ///   cannot call for ever without reading the answers.
    package mutating func begin(_ call: UInt64, deadline: Duration, unanswered: Int) -> Admission {
        guard entries[call] == nil, entries.count + unanswered < Self.unansweredLimit(limit) else { return .abuse }
        // Cancelled calls still run here for a moment after the peer has made others in their place.
        guard entries.count < limit + limit / 2 + 1 else { return .busy }
        entries[call] = .starting(isCancelled: false)
        deadlines.insert(call, at: deadline)
        return .run
    }

    /// The call has been started. The result is `handle` where it has to be cancelled at once.
    package mutating func started(_ call: UInt64, _ handle: Handle) -> Handle? {
        guard case .starting(let isCancelled) = entries[call] else { return nil }
        entries[call] = .running(handle)
        return isCancelled ? handle : nil
    }

    /// The call is about to run in a task that it has to itself only for that time. The result is `false` where it was cancelled
    /// before: then that task must not be used.
    package mutating func begins(_ call: UInt64, in handle: Handle) -> Bool {
        guard case .starting(false) = entries[call] else { return false }
        entries[call] = .running(handle)
        return true
    }

    /// The call goes on in another task, if it has not ended.
    package mutating func moved(_ call: UInt64, to handle: Handle) {
        if case .running = entries[call] { entries[call] = .running(handle) }
    }

    /// Returns the handle that cancels the call, if the call runs.
    package mutating func cancel(_ call: UInt64) -> Handle? {
        switch entries[call] {
        case .running(let handle): return handle
        case .starting:
            entries[call] = .starting(isCancelled: true)
            return nil
        case nil: return nil
        }
    }

    package mutating func finished(_ call: UInt64) {
        entries[call] = nil
        deadlines.forgetDead(living: entries.count) { entries[$0] != nil }
    }

    /// The calls whose time is over: their callers have given up.
    package mutating func expire(at now: Duration) -> [Handle] {
        var handles: [Handle] = []
        while let call = deadlines.popDue(at: now) {
            if let handle = cancel(call) { handles.append(handle) }
        }
        return handles
    }

    package mutating func nextDeadline() -> Duration? {
        deadlines.next { entries[$0] != nil }
    }

    /// Returns the handles that cancel all calls, because the link is gone.
    package mutating func cancelAll() -> [Handle] {
        entries.all.compactMap { cancel($0.call) }
    }
}

extension RunningCalls: Sendable where Handle: Sendable {}
extension RunningCalls.Entry: Sendable where Handle: Sendable {}
