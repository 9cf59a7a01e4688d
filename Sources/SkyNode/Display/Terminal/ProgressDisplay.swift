import NIOConcurrencyHelpers
import SkyCore

/// Shows a job's progress on standard error: a live picture on a terminal, a plain line now and then elsewhere.
final class ProgressDisplay: Sendable {
    private struct State {
        /// Columns of the lines of the live picture now on the screen, to be overwritten.
        var drawn: [Int] = []
        /// The rate of each job that is shown.
        var rates: [String: ProgressRate] = [:]
        var lastDrawn: ContinuousClock.Instant?
        var pauses = PauseReports()
        var isFinished = false
    }

    /// What is shown of a job.
    enum Scope: Comparable {
        /// Nothing is shown, because programs read standard output.
        case nothing
        /// Only that it is paused, and that it goes on.
        case problems
        case progress
    }

    /// Where lines go.
    struct Terminal: Sendable {
        var isLive = Console.errorIsTerminal
        var size: @Sendable () -> (columns: Int, rows: Int) = { Console.screen }
        /// Writes to standard error, with terminal codes.
        var draw: @Sendable (String) -> Void = { Console.errorText($0) }
        /// Writes a line to standard error.
        var say: @Sendable (String) -> Void = { Console.error($0) }
        /// Writes a line to standard output.
        var output: @Sendable (String) -> Void = { Console.output($0) }
    }

    private let state = NIOLockedValueBox(State())
    private let scope: Scope
    private let terminal: Terminal
    private var isLive: Bool { terminal.isLive && scope == .progress }

    /// Pause between two live pictures: the eye sees no more.
    static let liveInterval = Duration.milliseconds(100)
    /// Pause between two plain lines: a log stays readable.
    static let plainInterval = Duration.seconds(5)

    init(_ scope: Scope, terminal: Terminal = Terminal()) {
        self.scope = scope
        self.terminal = terminal
    }

    /// Shows everything to people, and nothing where programs read.
    convenience init(_ format: OutputFormat) { self.init(format == .json ? .nothing : .progress) }

    /// - Parameters:
    ///   - subject: tells apart jobs that are shown in turn.
    ///   - hasEnded: whether the job has ended.
    func show(_ status: JobStatus, of subject: String? = nil, hasEnded: Bool = false) {
        guard scope > .nothing else { return }
        state.withLockedValue { state in
            guard !state.isFinished else { return }
            if let line = state.pauses.note(status.paused, of: subject ?? "", hasEnded: hasEnded) {
                erase(&state)
                terminal.say(line)
                state.lastDrawn = nil
            }
            guard scope == .progress else { return }
            let now = ContinuousClock.now
            let interval = isLive ? ProgressDisplay.liveInterval : ProgressDisplay.plainInterval
            if let last = state.lastDrawn, last.duration(to: now) < interval { return }
            // The first plain line comes after one interval: a short job needs none.
            defer { state.lastDrawn = now }
            state.rates[subject ?? "", default: ProgressRate()].note(status)
            let rate = state.rates[subject ?? ""]?.tasksPerSecond
            if isLive {
                draw(status, rate, &state)
            } else if state.lastDrawn != nil {
                terminal.say(ProgressLines(columns: 200, rate: rate).plainLine(status))
            }
        }
    }

    /// Prints a line above the live picture.
    func say(_ line: String) {
        state.withLockedValue { state in
            erase(&state)
            terminal.say(line)
            state.lastDrawn = isLive ? nil : state.lastDrawn
        }
    }

    /// Says above the live picture what went wrong.
    func fail(_ message: String) { say(Console.errorStyle.failure(message)) }

    /// Prints lines of results, in place of the live picture.
    func output(_ lines: [String]) {
        state.withLockedValue { state in
            erase(&state)
            lines.forEach(terminal.output)
        }
    }

    /// Takes the live picture away for good.
    func finish() {
        state.withLockedValue { state in
            erase(&state)
            state.isFinished = true
        }
    }

    private func draw(_ status: JobStatus, _ rate: Double?, _ state: inout State) {
        erase(&state)
        let screen = terminal.size()
        let lines = ProgressLines(columns: screen.columns, rows: screen.rows, rate: rate)
            .lines(status)
        terminal.draw(lines.joined(separator: "\n") + "\n")
        state.drawn = lines.map(\.columns)
    }

    private func erase(_ state: inout State) {
        guard !state.drawn.isEmpty else { return }
        // A terminal that has become narrower has broken long lines.
        let columns = max(1, terminal.size().columns)
        let rows = state.drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
        // The codes go to the line's start, because the terminal itself writes "^C" at the cursor; then up; then they clear the
        // screen to its end (ECMA-48: CR, CUU, ED).
        terminal.draw("\r\u{1B}[\(rows)A\u{1B}[J")
        state.drawn = []
    }
}
