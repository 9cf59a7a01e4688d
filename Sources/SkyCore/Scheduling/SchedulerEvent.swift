package import Transport

extension JobScheduler {
    /// What the scheduler is told.
    package enum Event: Hashable, Sendable {
        /// A new job with its first tasks. A job that is already here is not submitted again.
        case submitted(JobID, tasks: Int, JobOptions = JobOptions())
        /// A job of an earlier life of this coordinator: `tasks` in all, of which these are done or have failed, and these were
        /// running on its node when that died.
        case restored(
            JobID, tasks: Int, completed: FinishedTasks, failed: FinishedTasks, risks: [TaskRisk] = [], isSealed: Bool,
            JobOptions)
        /// A job in phases: more tasks, numbered on from the last; of these, some are answered by earlier results, and some need
        /// what the node has at hand that did an earlier task, their kin.
        case tasksAdded(JobID, count: Int, answered: [TaskID] = [], affinity: [TaskID: TaskID] = [:])
        /// A node has a job's input, and gives it to those that do not.
        case inputFound(JobID, on: NodeID)
        /// The job is sealed: it ends when the tasks it has are done.
        case noMoreTasks(JobID)
        /// A node can be given work, the local one included: the scheduler uses no node that was not announced. Do not
        /// announce nodes that have no slots.
        case nodeJoined(NodeID, name: String = "", measuresAlike: Bool = true)
        /// A node is gone, or the link to it. If it joins again under the same id, it is met as if for the first time.
        case nodeLost(NodeID)
        /// A node begins or ends to only finish what it has.
        case nodeDraining(NodeID, Bool)
        /// The total now leased there. Older epochs than one already seen are ignored.
        case leased(NodeID, slots: Int, epoch: UInt64)
        /// The node no longer knows of us (our lease ran out): the demand is made again. What ran there is reported apart.
        case leaseLost(NodeID)
        /// An attempt brought a result. The time is what it took on the node; where nobody says it, what it took from here.
        case succeeded(AttemptID, on: NodeID, took: Duration? = nil)
        /// An attempt ended without a result. Stopped attempts are also reported, by either of the two: until then they
        /// occupy their slot.
        case failed(AttemptID, on: NodeID, AttemptFailure)
        /// An attempt runs or waits on a node, left from an earlier link or an earlier life of this coordinator.
        case adopted(AttemptID, on: NodeID)
        /// Nothing is to be sent out for a while (`true`), or again.
        case suspended(Bool)
        /// Give up a job.
        case cancelled(JobID)
        /// `nextWake` is due.
        case tick
    }
}
