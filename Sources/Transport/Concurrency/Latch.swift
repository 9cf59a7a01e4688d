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

    package init() {}

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
    package func wait() async {
        let ticket = state.withLockedValue { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLockedValue { state in
                    // A cancellation before this point found no waiter to wake.
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiters[ticket] = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            state.withLockedValue { $0.waiters.removeValue(forKey: ticket) }?.resume()
        }
    }

    /// Waits no longer than `limit`. Returns whether it is open.
    @discardableResult
    package func wait(atMost limit: Duration) async -> Bool {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait() }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
        return isOpen
    }
}
