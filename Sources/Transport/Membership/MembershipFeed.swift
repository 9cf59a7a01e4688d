import Synchronization

/// Hands membership events to any number of listeners, each with its own bounded buffer.
final class MembershipFeed: Sendable {
    /// Events a listener may be behind. One that falls further behind is cut off: its sequence ends, and asking
    /// again starts it with a fresh picture. Silently dropped events would leave it with a wrong one.
    static let bufferLimit = 4096

    private struct State {
        var membership = Membership()
        var listeners: [Int: AsyncStream<MembershipEvent>.Continuation] = [:]
        var nextListener = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    var members: [Member] { state.withLock { $0.membership.list } }

    /// Applies a change and tells the listeners what came of it.
    func update(_ change: (inout Membership) -> MembershipEvent?) {
        state.withLock { state in
            guard let event = change(&state.membership) else { return }
            for (id, listener) in state.listeners {
                switch listener.yield(event) {
                case .enqueued: break
                case .dropped:
                    state.listeners[id] = nil
                    listener.finish()
                case .terminated: state.listeners[id] = nil
                @unknown default: break
                }
            }
        }
    }

    /// Starts with `joined` for every present member, then whatever happens.
    func events() -> AsyncStream<MembershipEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MembershipEvent.self, bufferingPolicy: .bufferingOldest(MembershipFeed.bufferLimit))
        state.withLock { state in
            for member in state.membership.list { continuation.yield(.joined(member)) }
            if state.isFinished {
                continuation.finish()
                return
            }
            let id = state.nextListener
            state.nextListener += 1
            state.listeners[id] = continuation
            continuation.onTermination = { [weak self] _ in
                self?.forget(id)
            }
        }
        return stream
    }

    private func forget(_ id: Int) {
        // `onTermination` also runs inside `update`, which holds the lock, when a listener is cut off there. A forget
        // that finds the lock taken may be skipped: the next event meets a terminated listener and removes it.
        _ = state.withLockIfAvailable { $0.listeners[id] = nil }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
