import Base
import SkyCore
import Transport

/// The jobs of a command whose end no node has confirmed yet, and what to tell a user who does not wait for that.
struct UnansweredJobs {
    private var jobs: [JobID] = []
    /// The number of jobs that are being submitted.
    var submissions = 0
    /// Why a job could not be cancelled, in the words of its node.
    var reason: String?

    /// Largest number of jobs that are named. Sixty jobs may be under way for the images of a night.
    private static let named = 3

    var isEmpty: Bool { jobs.isEmpty && submissions == 0 }

    mutating func begin(_ job: JobID) { jobs.append(job) }

    mutating func end(_ job: JobID) { jobs.removeAll { $0 == job } }

    var lines: [String] {
        let because = reason.map { ": \(PrintableText.of($0))" } ?? " in time"
        var lines: [String] = []
        if !jobs.isEmpty {
            let plural = jobs.count > 1 ? "jobs" : "job"
            lines.append(
                "the node has not confirmed that the \(plural) ended\(because). What may go on can be cancelled later:")
            lines += jobs.prefix(UnansweredJobs.named).map { "  skynode jobs cancel \($0)" }
            let rest = jobs.count - UnansweredJobs.named
            if rest > 0 { lines.append("  and \(rest) more, which skynode jobs lists") }
        }
        if submissions > 0 {
            lines.append(
                "the node has not said whether it took the job\(because); skynode jobs lists those that it has")
        }
        return lines
    }
}
