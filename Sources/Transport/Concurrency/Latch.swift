import NIOConcurrencyHelpers

/// A door that opens once. A task that waits goes on when the door opens, when the task is cancelled, or when the time is over; a
/// task that comes later goes straight through.
package final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastTicket = 0
    }

    private let state = NIOLockedValueBox(State())
    private let timer: WaitTimer

    package convenience init() { self.init(timer: .shared) }

    /// - Parameter timer: ends waits that have a limit.
    init(timer: WaitTimer) { self.timer = timer }

    package var isOpen: Bool { state.withLockedValue { $0.isOpen } }

    package func open() {
        let waiters = state.withLockedValue { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits until it opens or the task is cancelled; `isOpen` tells which.
    package func wait() async { await wait(nil) }

    /// Waits no longer than `limit`. Returns whether it is open.
    @discardableResult
    package func wait(atMost limit: Duration) async -> Bool {
        if limit > .zero { await wait(limit) }
        return isOpen
    }

    /// The end of the time: the task that waits with this ticket goes on, unless it has done so already.
    func end(_ ticket: Int) {
        state.withLockedValue { $0.waiters.removeValue(forKey: ticket) }?.resume()
    }

    private func wait(_ limit: Duration?) async {
        let ticket = state.withLockedValue { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        var timed: UInt64?
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLockedValue { state in
                    // A cancellation before this point found no waiter to wake.
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiters[ticket] = continuation
                    return false
                }
                if goesOn {
                    continuation.resume()
                } else if let limit {
                    timed = timer.add(self, ticket, after: limit)
                }
            }
        } onCancel: {
            end(ticket)
        }
        if let timed { timer.remove(timed) }
    }
}
