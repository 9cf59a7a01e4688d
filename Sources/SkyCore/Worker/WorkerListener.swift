import Base
import NIOConcurrencyHelpers
import Transport

/// Waits for started workers to say hello.
final class WorkerListener: Sendable {
    private struct State {
        var arrived: [String: Member] = [:]
        var waiting: [String: CheckedContinuation<Member, any Error>] = [:]
    }

    private let state = NIOLockedValueBox(State())
    /// The task belongs to this object. `stop` ends it, and so does the system's shutdown.
    private let task = NIOLockedValueBox<Task<Void, Never>?>(nil)

    init(_ system: ClusterSystem) {
        let listening = Task { [weak self] in
            for await event in system.membershipEvents() {
                guard case .joined(let member) = event else { continue }
                self?.arrived(member)
            }
        }
        task.withLockedValue { $0 = listening }
    }

    func stop() {
        task.withLockedValue { $0 }?.cancel()
        let waiting = state.withLockedValue { state in
            defer { state.waiting = [:] }
            return state.waiting
        }
        for waiter in waiting.values { waiter.resume(throwing: TransportError.notRunning) }
    }

    private func arrived(_ member: Member) {
        let waiter = state.withLockedValue { state in
            let waiter = state.waiting.removeValue(forKey: member.name)
            if waiter == nil { state.arrived[member.name] = member }
            return waiter
        }
        waiter?.resume(returning: member)
    }

    /// - Throws: `SkyError` if the process ends or does not say hello in time.
    func hello(of name: String, from process: ChildProcess, within limit: Duration) async throws -> Member {
        let watch = Task {
            let ended = await process.hasEnded(within: limit)
            self.giveUp(
                name, ended ? "the worker process ended at its start" : "the worker process did not say hello in time")
        }
        defer { watch.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let member = state.withLockedValue { state in
                    if let member = state.arrived.removeValue(forKey: name) { return member as Member? }
                    state.waiting[name] = continuation
                    return nil
                }
                if let member { continuation.resume(returning: member) }
            }
        } onCancel: {
            giveUp(name, "stopped")
        }
    }

    private func giveUp(_ name: String, _ reason: String) {
        let waiter = state.withLockedValue { $0.waiting.removeValue(forKey: name) }
        waiter?.resume(throwing: SkyError(.failed, reason))
    }
}
