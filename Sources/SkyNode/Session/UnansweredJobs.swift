import Base
import SkyCore
import Transport

/// Jobs of a command of which no node has said yet that they have ended: what to tell a person who does not wait for it.
struct UnansweredJobs {
    private var jobs: [JobID] = []
    /// Jobs that are being handed over.
    var submissions = 0
    /// Why one could not be cancelled, as its node says.
    var reason: String?

    /// Jobs that are named; of a night's images there may be sixty under way.
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
