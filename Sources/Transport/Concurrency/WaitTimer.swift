import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Ends waits whose time is over, with one timer of an event loop for all waits of the process.
///
/// A task that sleeps beside each wait would wake libdispatch's thread for timers and a worker thread for each of them, although nearly
/// all waits end before their time.
final class WaitTimer: Sendable {
    static let shared = WaitTimer(MultiThreadedEventLoopGroup.singleton.any())

    private struct State {
        var deadlines = DeadlineQueue()
        var waits: [UInt64: (latch: Latch, ticket: Int)] = [:]
        var lastWait: UInt64 = 0
        /// When the event loop is to look next. What it was asked for before that one has no effect.
        var armed: Duration?
    }

    private let loop: any EventLoop
    private let state = NIOLockedValueBox(State())

    /// The longest wait. Whoever wants to wait for longer does not mean the time.
    private static let longest = Duration.seconds(365 * 86_400)

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Waits that have not been removed.
    var count: Int { state.withLockedValue { $0.waits.count } }

    /// Ends the wait with this ticket at a latch after `limit`, unless it is removed before.
    ///
    /// - Returns: its number, by which it is removed.
    func add(_ latch: Latch, _ ticket: Int, after limit: Duration) -> UInt64 {
        let due = now + min(max(limit, .zero), WaitTimer.longest)
        let (wait, isFirst) = state.withLockedValue { state in
            state.lastWait += 1
            state.waits[state.lastWait] = (latch, ticket)
            state.deadlines.insert(state.lastWait, at: due)
            guard state.armed.map({ due < $0 }) ?? true else { return (state.lastWait, false) }
            state.armed = due
            return (state.lastWait, true)
        }
        if isFirst { arm(due) }
        return wait
    }

    func remove(_ wait: UInt64) {
        state.withLockedValue { state in
            state.waits[wait] = nil
            state.deadlines.forgetDead(living: state.waits.count) { [waits = state.waits] in waits[$0] != nil }
        }
    }

    private var now: Duration { .nanoseconds(NIODeadline.now().uptimeNanoseconds) }

    private func arm(_ due: Duration) {
        loop.scheduleTask(in: TimeAmount(max(.zero, due - now))) { self.fire(due) }
    }

    private func fire(_ due: Duration) {
        let now = now
        let (over, next) = state.withLockedValue { state in
            var over: [(latch: Latch, ticket: Int)] = []
            // An earlier time was asked for after this one, and the look at that time has asked for what was due next.
            guard state.armed == due else { return (over, Duration?.none) }
            while let wait = state.deadlines.popDue(at: now) {
                if let found = state.waits[wait] { over.append(found) }
            }
            state.armed = state.deadlines.next { [waits = state.waits] in waits[$0] != nil }
            return (over, state.armed)
        }
        for (latch, ticket) in over { latch.end(ticket) }
        if let next { arm(next) }
    }
}
