import Base
import Transport

/// One job as the coordinator keeps it: its plan, its history, its end.
struct CoordinatedJob {
    var stored: StoredJob
    let submittedAt: Duration
    var plan: any JobPlan
    /// What has been told: nothing that is not stored.
    var log = EventLog()
    var published = JobTally()
    /// Results of attempts that succeeded, until the scheduler says whether they count.
    var uncommitted: [AttemptID: Uncommitted] = [:]
    /// Tasks that failed because the input is bad.
    var badInput: Set<Int> = []
    /// What has been decided, and is told when it is stored.
    var decided = JobTally()
    /// Tasks that its plan has issued.
    var issued = 0
    /// Tasks that are looked for among earlier results before the scheduler gets them.
    var search: Search?
    /// Whether to note which of its tasks run on this node: an earlier life of the coordinator did not end in order.
    var isRisky = false
    /// Why it was aborted.
    var abort: SkyError?
    /// Set when its end has been decided; told when that is stored.
    var report: JobReport?

    /// What an attempt brought.
    struct Uncommitted {
        /// As it is stored when it counts, then with the name of the node.
        var stored: StoredResult
        /// The same as its plan takes it; `nil` where that takes none.
        var value: TaskResult?
    }

    /// A step of its plan whose tasks are looked for.
    struct Search {
        /// The first that has not been looked for.
        var next: Int
        /// Behind the last of them.
        var end: Int
        /// Whether no more tasks will come.
        var isLast: Bool

        /// Whether these are the next of them.
        func contains(_ tasks: Range<Int>) -> Bool { tasks.lowerBound == next && tasks.upperBound <= end }
    }

    var id: JobID { stored.id }
    var request: JobRequest { stored.request }
    var isActive: Bool { report == nil }
}
