import Base
import Transport

/// One job as the coordinator keeps it: its plan, its history, its end.
struct CoordinatedJob {
    var stored: StoredJob
    let submittedAt: Duration
    var plan: any JobPlan
    /// The events that have been published. All of them are stored.
    var log = EventLog()
    var published = JobTally()
    /// Results of attempts that succeeded, until the scheduler says whether they count.
    var uncommitted: [AttemptID: Uncommitted] = [:]
    /// Tasks that failed because the input is bad.
    var badInput: Set<Int> = []
    /// What has been decided, and is published when it is stored.
    var decided = JobTally()
    /// What the nodes have done for it, as far as this incarnation of the coordinator has seen.
    var work = JobWork()
    /// The number of tasks that its plan has issued.
    var issued = 0
    /// What these tasks are based on.
    var basis = TaskBasis()
    /// The tasks that are looked up among earlier results before the scheduler gets them.
    var search: Search?
    /// Whether to store which of its tasks run on this node, because an earlier incarnation of the coordinator did not end in
    /// order.
    var isRisky = false
    /// About how many bytes are stored of it, if somebody with a credential submitted it.
    var bytes = 0
    /// How many of them are its request.
    var requestBytes = 0
    /// About how many bytes are stored of the results that its plan has.
    var resultBytes = 0
    /// Why the job was aborted.
    var abort: SkyError?
    /// The report, set when the job's end has been decided, and published when that is stored.
    var report: JobReport?

    /// The result of an attempt.
    struct Uncommitted {
        /// The result as it will be stored, then with the name of its node.
        var stored: StoredResult
        /// The decoded result for the plan; `nil` where the plan takes no results.
        var value: TaskResult?
        /// How long the attempt spent in each stage of its work; `nil` if that is not known.
        var stages: StageTimes?
    }

    /// A step of its plan whose tasks are being looked up.
    struct Search {
        /// The first task that has not been looked up.
        var next: Int
        /// The number after the last task.
        var end: Int
        /// Whether the plan issues no more tasks after these.
        var isLast: Bool

        /// Whether `tasks` are the next ones of this search.
        func contains(_ tasks: Range<Int>) -> Bool { tasks.lowerBound == next && tasks.upperBound <= end }
    }

    var id: JobID { stored.id }
    var request: JobRequest { stored.request }
    var isActive: Bool { report == nil }
}
