package import Transport

extension JobScheduler {
    /// What the coordinator is to do, in order.
    package enum Action: Hashable, Sendable {
        /// Demand so many slots of a node in all, running attempts included; 0 gives all back. This action is returned only
        /// when the demand changes.
        case reserve(NodeID, wanted: Int)
        /// Send an attempt to a node. Other attempts may already wait there for the same slots.
        case run(AttemptID, on: NodeID)
        /// Stop an attempt: its result is no longer needed.
        case stop(AttemptID, on: NodeID)
        /// Commit this result. The action is returned exactly once for a task that completes. An attempt of number 0 was no
        /// attempt: an earlier result completes the task.
        case completed(AttemptID, on: NodeID)
        /// Acknowledge and drop a result, because another one came first or its job has ended.
        case discarded(AttemptID)
        /// A task failed on a node and will be tried again after `delay`, as attempt number `attempt`. Refused attempts
        /// never started, so they are not reported.
        case retrying(JobID, TaskID, failedOn: NodeID, reason: FailureReason, delay: Duration, attempt: Int)
        /// A task has failed for good. The action is returned exactly once for a task that fails.
        case taskFailed(JobID, TaskID, reason: FailureReason)
        /// The job has ended, and the scheduler has forgotten it. The action is returned exactly once.
        case jobFinished(JobID, JobOutcome)
    }
}
