import NIOConcurrencyHelpers
import SkyCore
import Transport

/// The jobs of a command that the coordinator does not take now, one behind the other. Only the first of them asks again: when one of
/// the command's jobs has ended, or after a while, because jobs of other commands end unseen.
final class SubmissionLine: Sendable {
    private struct State {
        /// How many jobs of the command have ended.
        var ended = 0
        var hasBegun = false
        var waiting = 0
        /// What the user has been told.
        var said: Set<String> = []
        /// Opens when the next job ends.
        var next = Latch()
    }

    private let state = NIOLockedValueBox(State())
    private let turns = Turns()

    /// How long to wait for a job's end before the node is asked again.
    private static let pause = Duration.seconds(2)

    /// How many jobs of the command have ended.
    var ended: Int { state.withLockedValue { $0.ended } }

    /// A job of the command has ended.
    func jobEnded() {
        state.withLockedValue { state in
            state.ended += 1
            defer { state.next = Latch() }
            return state.next
        }.open()
    }

    /// Submits a job, and submits it again as long as the coordinator refuses it only for now.
    ///
    /// - Parameter say: prints why it waits.
    /// - Throws: what `submit` throws.
    func submit<Started: Sendable>(
        _ interrupts: Interrupts, say: @escaping @Sendable (String) async -> Void,
        _ submit: @escaping @Sendable () async throws -> Started
    ) async throws -> Started {
        if state.withLockedValue({ $0.waiting == 0 }), let started = try await attempt(say, submit) { return started }
        state.withLockedValue { $0.waiting += 1 }
        defer { state.withLockedValue { $0.waiting -= 1 } }
        return try await turns.take { [self] in
            while true {
                try interrupts.check()
                let ended = ended
                if let started = try await attempt(say, submit) { return started }
                try await untilJobEnds(since: ended, interrupts)
            }
        }
    }

    /// - Returns: `nil` where it may be taken later.
    private func attempt<Started: Sendable>(
        _ say: @Sendable (String) async -> Void, _ submit: @Sendable () async throws -> Started
    ) async throws -> Started? {
        do {
            let started = try await submit()
            state.withLockedValue { $0.hasBegun = true }
            return started
        } catch let failure as CommandFailure {
            guard case .passing(let cause) = failure.refusal, waits(for: cause) else { throw failure }
            await tell(failure.message ?? "it is not taken now", say)
            return nil
        }
    }

    /// Whether a job waits. Jobs end by themselves. Where a disk is full, a person has to do something: a command that has nothing at
    /// the node yet says so and ends.
    private func waits(for cause: PassingRefusal.Cause) -> Bool {
        cause == .jobs || state.withLockedValue { $0.hasBegun }
    }

    /// Tells the user once why something waits.
    func tell(_ reason: String, _ say: @Sendable (String) async -> Void) async {
        // Reasons that differ in their numbers are one.
        let words = String(reason.filter { !$0.isNumber })
        guard state.withLockedValue({ $0.said.insert(words).inserted }) else { return }
        await say("skynode: waiting: \(reason)")
    }

    /// Waits until a job of the command has ended after the first `known` ones, or a while.
    ///
    /// - Throws: `CommandFailure` where the command is interrupted.
    func untilJobEnds(since known: Int, _ interrupts: Interrupts) async throws {
        let next = state.withLockedValue { $0.ended > known ? nil : $0.next }
        if let next {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await next.wait(atMost: SubmissionLine.pause) }
                group.addTask { _ = await interrupts.first() }
                await group.next()
                group.cancelAll()
            }
        }
        try interrupts.check()
        try Task.checkCancellation()
    }
}

extension Interrupts {
    /// - Throws: `CommandFailure` for a job that is not submitted any more, because the command was asked to stop.
    func check() throws {
        guard !wasInterrupted else { throw CommandFailure(.cancelled, refusal: .interrupted) }
    }
}

/// Lets one body run after the other, in the order in which they came.
actor Turns {
    private var last: Task<Void, Never>?

    /// Runs `body` when those that came before have ended.
    func take<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let before = last
        // It is cancelled with its caller, who waits for its end.
        let task = Task {
            await before?.value
            try Task.checkCancellation()
            return try await body()
        }
        last = Task { _ = try? await task.value }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
