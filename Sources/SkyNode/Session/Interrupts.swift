import Glibc
import NIOConcurrencyHelpers
import Sky
import SkyCore
import Transport
import UnixSignals

/// Handles Ctrl-C and SIGTERM for a command. The first signal asks the command to stop in order. The second one ends it at once, as
/// SIGHUP does (`SignalEnd`): jobs go on where only the terminal has gone.
///
/// To stop in order, a command needs the answer of a node. If its node does not answer, the command ends all the same, and says
/// what may go on without it.
final class Interrupts: Sendable {
    private struct State {
        var unanswered: UnansweredJobs
        /// The number of files that are being written. Leaving now would leave incomplete files.
        var writes = 0
        var farewell: (@Sendable () -> String?)?
    }

    private let interrupted = Latch()
    private let state: NIOLockedValueBox<State>
    /// Prints messages for the user. A live display has to make room for them.
    private let speaker = NIOLockedValueBox<@Sendable (String) -> Void>({ Console.error($0) })
    /// Time to fetch and write the finished part of jobs that were cancelled.
    private let timeForResults: Duration

    /// Time for a node to answer that a job is cancelled. If a command is still running two seconds after Ctrl-C, people think that
    /// it hangs.
    static let patience = Duration.milliseconds(1500)
    /// Writing to a local disk takes longer than this only where the disk fails.
    private static let patienceForWrites = Duration.seconds(10)

    /// - Parameters:
    ///   - timeForResults: how long it may take to fetch the finished part of cancelled jobs, once they have ended.
    ///   - connection: the options that lead to the node of the jobs, for the commands that are advised.
    init(timeForResults: Duration = .zero, connection: [String] = []) {
        self.timeForResults = timeForResults
        state = NIOLockedValueBox(State(unanswered: UnansweredJobs(connection: connection)))
    }

    var wasInterrupted: Bool { interrupted.isOpen }

    /// Sends all messages through a display from now on.
    func speak(through display: ProgressDisplay) {
        speaker.withLockedValue { $0 = { display.say($0) } }
    }

    /// Sets what is done and said where the command ends without an answer.
    func beforeLeaving(_ farewell: @escaping @Sendable () -> String?) {
        state.withLockedValue { $0.farewell = farewell }
    }

    /// Listens until it is cancelled.
    func run() async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        for await _ in signals {
            // The second signal ends the command at once. Workers see that their socket closes, and end by themselves.
            SignalEnd.cause(by: SIGINT, SIGTERM)
            interrupt()
            say("skynode: stopping; Ctrl-C again leaves at once")
            await leaveInTime()
            return
        }
    }

    /// Asks the command to stop in order.
    func interrupt() { interrupted.open() }

    /// Waits for an interrupt. Returns `true` when it has come, and `false` when the caller is cancelled before.
    func first() async -> Bool {
        await interrupted.wait()
        return interrupted.isOpen
    }

    /// Runs `body` while listening.
    ///
    /// - Parameters:
    ///   - timeForResults: how long it may take to fetch the finished part of cancelled jobs, once they have ended.
    ///   - connection: the options that lead to the node of the jobs, for the commands that are advised.
    static func during<Result: Sendable>(
        timeForResults: Duration = .zero, connection: [String],
        _ body: @escaping @Sendable (Interrupts) async throws -> Result
    ) async throws -> Result {
        let interrupts = Interrupts(timeForResults: timeForResults, connection: connection)
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

    /// Counts a submission that is under way while `body` runs.
    func whileSubmitting<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        state.withLockedValue { $0.unanswered.submissions += 1 }
        defer { state.withLockedValue { $0.unanswered.submissions -= 1 } }
        return try await body()
    }

    /// Records a job that goes on without this command, while `body` runs.
    func whileRunning<Result>(_ job: JobID, _ body: () async throws -> Result) async rethrows -> Result {
        state.withLockedValue { $0.unanswered.begin(job) }
        defer { state.withLockedValue { $0.unanswered.end(job) } }
        return try await body()
    }

    /// Records why a job could not be cancelled, in the words of its node.
    func couldNotCancel(_ reason: String) {
        state.withLockedValue { $0.unanswered.reason = reason }
    }

    /// Counts files that are being written while `body` runs.
    func whileWriting<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        state.withLockedValue { $0.writes += 1 }
        defer { state.withLockedValue { $0.writes -= 1 } }
        return try body()
    }

    /// Does the same for files that are written by other threads.
    func whileWriting<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        state.withLockedValue { $0.writes += 1 }
        defer { state.withLockedValue { $0.writes -= 1 } }
        return try await body()
    }

    /// What would be left behind now, in one line for each.
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
        // Indented lines are commands to be typed, and need no prefix.
        for line in remains { say(line.hasPrefix(" ") ? line : "skynode: \(line)") }
        if let farewell = state.withLockedValue({ $0.farewell })?() { say("skynode: \(farewell)") }
        StagedFiles.abandon()
        // The process ends here, because a normal return would wait for the same as the rest of the command.
        _exit(ExitStatus.cancelled.rawValue)
    }

    /// Waits for a time. Returns `false` where the command has ended meanwhile.
    private func pause(_ time: Duration) async -> Bool { (try? await Task.sleep(for: time)) != nil }

    private func say(_ text: String) { speaker.withLockedValue { $0 }(text) }
}
