import Glibc
import Synchronization
import UnixSignals

/// Ctrl-C and SIGTERM for a command: the first asks it to stop in order, the second leaves at once.
final class Interrupts: Sendable {
    private struct State {
        var wasInterrupted = false
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        var nextWaiter = 0
    }

    private let state = Mutex(State())

    var wasInterrupted: Bool { state.withLock { $0.wasInterrupted } }

    /// Listens until cancelled.
    func run() async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        for await _ in signals {
            let (isSecond, waiters) = state.withLock { state in
                defer {
                    state.wasInterrupted = true
                    state.waiters = [:]
                }
                return (state.wasInterrupted, state.waiters)
            }
            if isSecond {
                Console.error("skynode: left at once")
                // Workers see their socket close and end by themselves.
                _exit(ExitStatus.cancelled.rawValue)
            }
            Console.error("skynode: stopping; Ctrl-C again leaves at once")
            for waiter in waiters.values { waiter.resume(returning: true) }
        }
    }

    /// `true` once interrupted, `false` when the caller is cancelled before.
    func first() async -> Bool {
        let ticket = Mutex<Int?>(nil)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.wasInterrupted { return true }
                    if Task.isCancelled { return false }
                    state.nextWaiter += 1
                    state.waiters[state.nextWaiter] = continuation
                    ticket.withLock { $0 = state.nextWaiter }
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                ticket.withLock(\.self).flatMap { state.waiters.removeValue(forKey: $0) }
            }
            waiter?.resume(returning: false)
        }
    }

    /// Runs `body` while listening.
    static func during<Result: Sendable>(
        _ body: @escaping @Sendable (Interrupts) async throws -> Result
    ) async throws -> Result {
        let interrupts = Interrupts()
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                await interrupts.run()
                return nil
            }
            group.addTask { try await body(interrupts) }
            while let result = try await group.next() {
                if let result {
                    group.cancelAll()
                    return result
                }
            }
            throw CancellationError()
        }
    }
}
