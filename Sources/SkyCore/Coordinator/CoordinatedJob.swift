import Transport

/// One job as the coordinator keeps it: its plan, its history, its end.
struct CoordinatedJob {
    let id: JobID
    let request: JobRequest
    let submittedAt: Duration
    var plan: any JobPlan
    var log = EventLog()
    /// Results of attempts that succeeded, until the scheduler says whether they count.
    var uncommitted: [AttemptID: TaskResult] = [:]
    /// Attempts under way and where.
    var running: [AttemptID: NodeID] = [:]
    /// Tasks that failed because the input is bad.
    var badInput: Set<Int> = []
    /// Why it was aborted.
    var abort: SkyError?
    var report: JobReport?
    /// What a sky job came to; set when it ends.
    var catalogue: Catalogue?
    /// Tasks completed by each node; names outlive their nodes here.
    var shares: [NodeID: NodeShare] = [:]
}
