import NIOConcurrencyHelpers

/// Hands membership events to any number of listeners, each with its own bounded buffer.
final class MembershipFeed: Sendable {
    /// How many events a listener may be behind. A listener that falls further behind is cut off: its sequence ends, and asking
    /// again starts it with a fresh picture. Silently dropped events would leave it with a wrong one.
    static let bufferLimit = 4096

    private struct State {
        var membership = Membership()
        /// A listener that has gone stays here until the next event. A handler for its end (`onTermination`) would be a deadlock:
        /// it runs while the cancellation holds the lock of the listener's task, and an event, which wakes that task while this
        /// state is locked, needs the same lock.
        var listeners: [Int: AsyncStream<MembershipEvent>.Continuation] = [:]
        var nextListener = 0
        var isFinished = false
    }

    private let state = NIOLockedValueBox(State())

    var members: [Member] { state.withLockedValue { $0.membership.list } }

    /// Applies a change and publishes its event to the listeners.
    func update(_ change: (inout Membership) -> MembershipEvent?) {
        let cutOff = state.withLockedValue { state in
            var cutOff: [AsyncStream<MembershipEvent>.Continuation] = []
            guard let event = change(&state.membership) else { return cutOff }
            for (id, listener) in state.listeners {
                switch listener.yield(event) {
                case .enqueued: break
                case .dropped:
                    state.listeners[id] = nil
                    cutOff.append(listener)
                case .terminated: state.listeners[id] = nil
                @unknown default: break
                }
            }
            return cutOff
        }
        for listener in cutOff { listener.finish() }
    }

    /// A node without a link has said goodbye. Where its name is missed, it was here for a moment.
    func heardGoodbye(of member: Member) {
        guard state.withLockedValue({ $0.membership.isMissed(member) }) else { return }
        update { $0.linked(member) }
        update { $0.unlinked(member.node, saidGoodbye: true) }
    }

    /// Starts with `joined` for every present member, and goes on with every event as it happens.
    func events() -> AsyncStream<MembershipEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MembershipEvent.self, bufferingPolicy: .bufferingOldest(MembershipFeed.bufferLimit))
        state.withLockedValue { state in
            for member in state.membership.list { continuation.yield(.joined(member)) }
            if state.isFinished {
                continuation.finish()
                return
            }
            let id = state.nextListener
            state.nextListener += 1
            state.listeners[id] = continuation
        }
        return stream
    }

    func finish() {
        let listeners = state.withLockedValue { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
