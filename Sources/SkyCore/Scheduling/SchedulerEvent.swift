package import Transport

extension JobScheduler {
    /// An event that the coordinator hands to the scheduler.
    package enum Event: Hashable, Sendable {
        /// A new job with its first tasks. A job that is already here is not added again.
        case submitted(JobID, tasks: Int, JobOptions = JobOptions(), by: JobSubmitter = JobSubmitter())
        /// A job of an earlier incarnation of this coordinator. It has `tasks` tasks in all. The tasks in `completed` are
        /// done, those in `failed` have failed, and those in `risks` were running on the coordinator's own node when that
        /// died.
        case restored(
            JobID, tasks: Int, completed: FinishedTasks, failed: FinishedTasks, risks: [TaskRisk] = [], isSealed: Bool,
            JobOptions, by: JobSubmitter = JobSubmitter())
        /// A job in phases has `count` more tasks, which are numbered on from the last one. Earlier results answer some of
        /// them (`answered`). Some need data that the node of an earlier task has at hand (`affinity`).
        case tasksAdded(JobID, count: Int, answered: [TaskID] = [], affinity: [TaskID: TaskID] = [:])
        /// A node has a job's input and gives it to the nodes that do not have it.
        case inputFound(JobID, on: NodeID)
        /// The job is sealed: it ends when the tasks that it has are done.
        case noMoreTasks(JobID)
        /// A node can be given work. This event is needed for the local node, too: the scheduler uses no node that was not
        /// announced.
        case nodeJoined(NodeID, name: String = "", measuresAlike: Bool = true)
        /// A node is gone, or the link to it. If it joins again under the same id, the scheduler treats it as a new node.
        case nodeLost(NodeID)
        /// A node begins to drain (`true`) or resumes (`false`). A draining node only finishes what it has.
        case nodeDraining(NodeID, Bool)
        /// The total number of slots now leased there, and whether the node has any for anybody. No task waits for one that has
        /// none. A lease older than one already seen is ignored.
        case leased(NodeID, slots: Int, fencingToken: UInt64, hasNoSlots: Bool = false)
        /// The node no longer knows this coordinator, because our lease ran out. The demand is made again. What ran there
        /// is reported separately.
        case leaseLost(NodeID)
        /// An attempt brought a result. The duration is what it took on the node. If it is not known, the scheduler counts
        /// from the moment when it sent the attempt.
        case succeeded(AttemptID, on: NodeID, took: Duration? = nil)
        /// An attempt ended without a result. Stopped attempts are also reported, as `succeeded` or as `failed`: until then
        /// they occupy their slot.
        case failed(AttemptID, on: NodeID, AttemptFailure)
        /// An attempt runs or waits on a node. It is left from an earlier link or an earlier incarnation of this coordinator.
        case adopted(AttemptID, on: NodeID)
        /// Nothing may be sent for a while (`true`), or it may be sent again (`false`).
        case suspended(Bool)
        /// A job gets no slot for a while (`true`), or gets slots again (`false`). What runs goes on.
        case withheld(JobID, Bool)
        /// Give up a job.
        case cancelled(JobID)
        /// `nextWake` is due.
        case tick
    }
}
