import SkyCore

/// The exit code that the shell gets.
enum ExitStatus: Int32, Comparable {
    case done = 0
    /// Done, but some tasks failed.
    case partlyFailed = 1
    /// Wrong usage or bad input.
    case usage = 2
    /// No cluster was reached.
    case noCluster = 3
    /// Cancelled by Ctrl-C.
    case cancelled = 130

    /// Where there are several, the greatest is reported: being cancelled outweighs bad input, which outweighs a gap.
    static func < (left: ExitStatus, right: ExitStatus) -> Bool { left.rawValue < right.rawValue }
}

/// Ends a command with a status, and a line for the person where there is something to say.
struct CommandFailure: Error {
    /// Why one job was not begun. Nothing is wrong with the others of the command.
    enum Refusal {
        /// The coordinator does not take it, now or later.
        case lasting
        /// The coordinator does not take it now.
        case passing(PassingRefusal.Cause)
        /// The command was asked to stop while the job waited.
        case interrupted
    }

    var status: ExitStatus
    var message: String?
    /// `nil` where it is about the whole command, or about a job that was begun.
    var refusal: Refusal?

    init(_ status: ExitStatus, _ message: String? = nil, refusal: Refusal? = nil) {
        self.status = status
        self.message = message
        self.refusal = refusal
    }
}
