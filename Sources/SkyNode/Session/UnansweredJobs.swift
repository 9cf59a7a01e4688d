import Base
import SkyCore
import Transport

/// The jobs of a command whose end no node has confirmed yet, and what to tell a user who does not wait for that.
struct UnansweredJobs {
    /// The options that lead to the node of these jobs.
    private let connection: [String]
    private var jobs: [JobID] = []
    /// The number of jobs that are being submitted.
    var submissions = 0
    /// Why a job could not be cancelled, in the words of its node.
    var reason: String?

    /// Largest number of jobs that are named. Sixty jobs may be under way for the images of a night.
    private static let named = 3

    init(connection: [String] = []) { self.connection = connection }

    var isEmpty: Bool { jobs.isEmpty && submissions == 0 }

    mutating func begin(_ job: JobID) { jobs.append(job) }

    mutating func end(_ job: JobID) { jobs.removeAll { $0 == job } }

    var lines: [String] {
        let because = reason.map { ": \(PrintableText.of($0))" } ?? " in time"
        let list = JobsCommandLine(connection: connection).text
        var lines: [String] = []
        if !jobs.isEmpty {
            let plural = jobs.count > 1 ? "jobs" : "job"
            lines.append(
                "the node has not confirmed that the \(plural) ended\(because). What may go on can be cancelled later:")
            lines += jobs.prefix(UnansweredJobs.named).map {
                "  " + JobsCommandLine(["cancel", "\($0)"], connection: connection).text
            }
            let rest = jobs.count - UnansweredJobs.named
            if rest > 0 { lines.append("  and \(rest) more, which \(list) lists") }
        }
        if submissions > 0 {
            lines.append(
                "the node has not said whether it took the job\(because); \(list) lists those that it has")
        }
        return lines
    }
}
