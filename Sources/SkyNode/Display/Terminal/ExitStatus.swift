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
    var status: ExitStatus
    var message: String?

    init(_ status: ExitStatus, _ message: String? = nil) {
        self.status = status
        self.message = message
    }
}
