import NIOConcurrencyHelpers
import SkyCore

/// Shows a job's progress on standard error: a live picture on a terminal, a plain line now and then elsewhere.
final class ProgressDisplay: Sendable {
    private struct State {
        /// Lengths of the lines of the live picture now on the screen, to be overwritten.
        var drawn: [Int] = []
        /// Of each job that is shown.
        var rates: [String: ProgressRate] = [:]
        var lastDrawn: ContinuousClock.Instant?
        var pauses = PauseNews()
        var isFinished = false
    }

    private let state = NIOLockedValueBox(State())
    private let isLive: Bool
    private let isQuiet: Bool

    /// Pause between two live pictures: the eye sees no more.
    static let liveInterval = Duration.milliseconds(100)
    /// Pause between two plain lines: a log stays readable.
    static let plainInterval = Duration.seconds(5)

    /// - Parameter isQuiet: shows nothing, for programs that read standard output.
    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
        isLive = Console.errorIsTerminal && !isQuiet
    }

    /// - Parameter subject: tells jobs apart that are shown in turn.
    func show(_ status: JobStatus, of subject: String? = nil) {
        guard !isQuiet else { return }
        state.withLockedValue { state in
            guard !state.isFinished else { return }
            if let line = state.pauses.note(status.paused, of: subject ?? "") {
                erase(&state)
                Console.error(line)
                state.lastDrawn = nil
            }
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
                Console.error(ProgressLines(columns: 200, rate: rate).plainLine(status))
            }
        }
    }

    /// Prints a line above the live picture.
    func say(_ line: String) {
        state.withLockedValue { state in
            erase(&state)
            Console.error(line)
            state.lastDrawn = isLive ? nil : state.lastDrawn
        }
    }

    /// Takes the live picture away until the next one; what follows is printed below.
    func clear() {
        state.withLockedValue { erase(&$0) }
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
        let screen = Console.screen
        let lines = ProgressLines(columns: screen.columns, rows: screen.rows, rate: rate)
            .lines(status)
        Console.errorText(lines.joined(separator: "\n") + "\n")
        state.drawn = lines.map(\.count)
    }

    private func erase(_ state: inout State) {
        guard !state.drawn.isEmpty else { return }
        // A terminal that has become narrower has broken long lines.
        let columns = max(1, Console.screen.columns)
        let rows = state.drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
        // To the line's start, because the terminal itself writes "^C" at the cursor; up; clear to the end of the
        // screen (ECMA-48: CR, CUU, ED).
        Console.errorText("\r\u{1B}[\(rows)A\u{1B}[J")
        state.drawn = []
    }
}
