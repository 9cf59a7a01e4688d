import Glibc
import NIOConcurrencyHelpers
import SkyCore
import Transport
import UnixSignals

/// Ctrl-C and SIGTERM for a command: the first asks it to stop in order, the second leaves at once.
///
/// To stop in order takes the answer of a node. A command whose node does not answer leaves all the same, and says what may
/// go on without it.
final class Interrupts: Sendable {
    private struct State {
        var unanswered = UnansweredJobs()
        /// Files that are just being written: to leave in the middle would leave halves of them.
        var writes = 0
        var farewell: (@Sendable () -> String?)?
    }

    private let interrupted = Latch()
    private let state = NIOLockedValueBox(State())
    /// How words reach the person; a live display has to make room for them.
    private let speaker = NIOLockedValueBox<@Sendable (String) -> Void>({ Console.error($0) })
    /// Time to fetch and write what is done of jobs that were cancelled.
    private let timeForResults: Duration

    /// Time for a node to answer that a job is cancelled. A person takes a command for hung that is still there two seconds
    /// after Ctrl-C.
    static let patience = Duration.milliseconds(1500)
    /// Writing to a local disk takes longer than this only where the disk fails.
    private static let patienceForWrites = Duration.seconds(10)

    /// - Parameter timeForResults: how long it may take, once cancelled jobs have ended, to fetch what is done of them.
    init(timeForResults: Duration = .zero) { self.timeForResults = timeForResults }

    var wasInterrupted: Bool { interrupted.isOpen }

    /// From now on, words go through a display.
    func speak(through display: ProgressDisplay) {
        speaker.withLockedValue { $0 = { display.say($0) } }
    }

    /// What is to be done and said where the command leaves without an answer.
    func beforeLeaving(_ farewell: @escaping @Sendable () -> String?) {
        state.withLockedValue { $0.farewell = farewell }
    }

    /// Listens until cancelled.
    func run() async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        for await _ in signals {
            // The second one leaves at once, even where a stalled pipe holds up everything that prints: no thread of
            // ours is needed for it. Workers see their socket close and end by themselves.
            signal(SIGINT) { _ in _exit(130) }
            signal(SIGTERM) { _ in _exit(130) }
            interrupt()
            say("skynode: stopping; Ctrl-C again leaves at once")
            await leaveInTime()
            return
        }
    }

    /// Asks the command to stop in order.
    func interrupt() { interrupted.open() }

    /// `true` once interrupted, `false` when the caller is cancelled before.
    func first() async -> Bool {
        await interrupted.wait()
        return interrupted.isOpen
    }

    /// Runs `body` while listening.
    ///
    /// - Parameter timeForResults: how long it may take, once cancelled jobs have ended, to fetch what is done of them.
    static func during<Result: Sendable>(
        timeForResults: Duration = .zero, _ body: @escaping @Sendable (Interrupts) async throws -> Result
    ) async throws -> Result {
        let interrupts = Interrupts(timeForResults: timeForResults)
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

    // MARK: - What would be left behind

    /// Hands a job over.
    func whileSubmitting<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        state.withLockedValue { $0.unanswered.submissions += 1 }
        defer { state.withLockedValue { $0.unanswered.submissions -= 1 } }
        return try await body()
    }

    /// Follows a job that goes on without this command.
    func whileRunning<Result>(_ job: JobID, _ body: () async throws -> Result) async rethrows -> Result {
        state.withLockedValue { $0.unanswered.begin(job) }
        defer { state.withLockedValue { $0.unanswered.end(job) } }
        return try await body()
    }

    /// Why a job could not be cancelled, as its node says.
    func couldNotCancel(_ reason: String) {
        state.withLockedValue { $0.unanswered.reason = reason }
    }

    /// Writes files.
    func whileWriting<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        state.withLockedValue { $0.writes += 1 }
        defer { state.withLockedValue { $0.writes -= 1 } }
        return try body()
    }

    /// What is left to itself at present, a line each.
    var remains: [String] { state.withLockedValue { $0.unanswered.lines } }

    // MARK: - Leaving

    private func leaveInTime() async {
        guard await pause(Interrupts.patience) else { return }
        if state.withLockedValue({ $0.unanswered.isEmpty }), timeForResults > .zero {
            guard await pause(timeForResults) else { return }
        }
        let limit = ContinuousClock.now + Interrupts.patienceForWrites
        while state.withLockedValue({ $0.writes > 0 }), ContinuousClock.now < limit {
            guard await pause(.milliseconds(20)) else { return }
        }
        // Commands to be typed stand for themselves.
        for line in remains { say(line.hasPrefix(" ") ? line : "skynode: \(line)") }
        if let farewell = state.withLockedValue({ $0.farewell })?() { say("skynode: \(farewell)") }
        // Whatever the rest of the command waits for, it would wait for it here too.
        _exit(ExitStatus.cancelled.rawValue)
    }

    /// `false` where the command has ended meanwhile.
    private func pause(_ time: Duration) async -> Bool { (try? await Task.sleep(for: time)) != nil }

    private func say(_ text: String) { speaker.withLockedValue { $0 }(text) }
}
