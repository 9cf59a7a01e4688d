import Transport

/// What a node says of itself to whoever watches over it.
package struct NodeHealth: Hashable, Sendable {
    /// Tasks that may run at once.
    package var slots: Int
    /// Tasks that run.
    package var running: Int
    /// Attempts that have ended here since its start.
    package var attempts: AttemptCounts
    /// Tasks of the jobs that it coordinates, since its start.
    package var tasks: TaskCounts
    /// Whether nothing can be stored now, so that its jobs wait.
    package var isPaused: Bool
    /// Whether it takes new work.
    package var isReady: Bool
    /// Nodes in the cluster, itself among them.
    package var nodes: Int
    /// The newest job under way that it coordinates.
    package var job: Job?

    /// Whether tasks run here, or a job goes on that it coordinates.
    package var isBusy: Bool { running > 0 || job != nil }

    /// A job under way.
    package struct Job: Hashable, Sendable {
        package var id: JobID
        package var completed: Int
        package var tasks: Int
    }

    /// "4 slots, 12 nodes, job 7: 812 of 4096"
    package var description: String {
        let words = [
            "\(slots) \(slots == 1 ? "slot" : "slots")", running > 0 ? "\(running) running" : nil,
            "\(nodes) \(nodes == 1 ? "node" : "nodes")", job.map { "job \($0.id): \($0.completed) of \($0.tasks)" },
        ]
        return words.compactMap(\.self).joined(separator: ", ")
    }
}
