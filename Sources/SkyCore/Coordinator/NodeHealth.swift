import Transport

/// The health that a node reports of itself.
package struct NodeHealth: Hashable, Sendable {
    /// The number of tasks that may run at once.
    package var slots: Int
    /// The number of tasks that run.
    package var running: Int
    /// Attempts that have ended here since its start.
    package var attempts: AttemptCounts
    /// Tasks of the jobs that it coordinates, since its start.
    package var tasks: TaskCounts
    /// Whether nothing can be stored now, so that its jobs wait.
    package var isPaused: Bool
    /// Whether it takes new work.
    package var isReady: Bool
    /// The number of nodes in the cluster, including this one.
    package var nodes: Int
    /// The newest job that goes on and that this node coordinates.
    package var job: Job?
    /// How the copies of what it coordinates are; `nil` where there can be none.
    package var copies: CopyHealth?

    /// Whether tasks run here, or a job of this node's coordinator goes on.
    package var isBusy: Bool { running > 0 || job != nil }

    /// A job that goes on.
    package struct Job: Hashable, Sendable {
        package var id: JobID
        package var completed: Int
        package var tasks: Int
    }

    /// A line such as "4 slots, 12 nodes, job 7: 812 of 4096".
    package var description: String {
        let words = [
            "\(slots) \(slots == 1 ? "slot" : "slots")", running > 0 ? "\(running) running" : nil,
            "\(nodes) \(nodes == 1 ? "node" : "nodes")", job.map { "job \($0.id): \($0.completed) of \($0.tasks)" },
        ]
        return words.compactMap(\.self).joined(separator: ", ")
    }
}
