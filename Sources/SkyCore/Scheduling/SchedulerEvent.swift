package import Transport

extension JobScheduler {
    /// What the scheduler is told.
    package enum Event: Hashable, Sendable {
        /// A new job with its first tasks. A job that is already here is not submitted again.
        case submitted(JobID, tasks: Int)
        /// A job in phases: more tasks, numbered on from the last.
        case tasksAdded(JobID, count: Int)
        /// The job is sealed: it ends when the tasks it has are done.
        case noMoreTasks(JobID)
        /// A node can be given work, the local one included: the scheduler uses no node that was not announced. Do not
        /// announce nodes that have no slots.
        case nodeJoined(NodeID)
        /// A node is gone, or the link to it. If it joins again under the same id, it is met as if for the first time.
        case nodeLost(NodeID)
        /// A node begins or ends to only finish what it has.
        case nodeDraining(NodeID, Bool)
        /// The total now leased there. Older epochs than one already seen are ignored.
        case leased(NodeID, slots: Int, epoch: UInt64)
        /// The node no longer knows of us (our lease ran out): the wish is made again. What ran there is reported apart.
        case leaseLost(NodeID)
        /// An attempt brought a result.
        case succeeded(AttemptID, on: NodeID)
        /// An attempt ended without a result. Stopped attempts are also reported, by either of the two: until then they
        /// occupy their slot.
        case failed(AttemptID, on: NodeID, AttemptFailure)
        /// Give up a job.
        case cancelled(JobID)
        /// `nextWake` is due.
        case tick
    }
}
