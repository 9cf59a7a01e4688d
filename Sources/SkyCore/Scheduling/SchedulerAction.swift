package import Transport

extension JobScheduler {
    /// What the coordinator is to do, in order.
    package enum Action: Hashable, Sendable {
        /// Demand so many slots of a node in all, running attempts included; 0 gives all back. Only said on a change.
        case reserve(NodeID, wanted: Int)
        /// Send an attempt to a node. It may find others there that wait for the same slots.
        case run(AttemptID, on: NodeID)
        /// Stop an attempt: its result is no longer needed.
        case stop(AttemptID, on: NodeID)
        /// Commit this result. Said exactly once for a task that completes. An attempt of number 0 was none: an earlier result
        /// answers.
        case completed(AttemptID, on: NodeID)
        /// Acknowledge and drop a result: another came first, or its job has ended.
        case discarded(AttemptID)
        /// A task failed on a node and will be tried again after `delay`, as attempt number `attempt`. Refusals, which never
        /// started, are not reported.
        case retrying(JobID, TaskID, failedOn: NodeID, reason: FailureReason, delay: Duration, attempt: Int)
        /// A task has failed for good. Said exactly once for a task that fails.
        case taskFailed(JobID, TaskID, reason: FailureReason)
        /// The job has ended and is forgotten. Said exactly once.
        case jobFinished(JobID, JobOutcome)
    }
}
