package import Transport

/// Asks a node to run one attempt.
package struct RunRequest: Codable, Sendable {
    package var attempt: AttemptID
    package var task: ScanTask
    /// After this the attempt is stopped and counts as failed.
    package var timeLimit: Duration

    package init(attempt: AttemptID, task: ScanTask, timeLimit: Duration) {
        self.attempt = attempt
        self.task = task
        self.timeLimit = timeLimit
    }

    /// Whether all times in it lie between nothing and a day.
    var hasSaneDurations: Bool {
        let sane = Duration.zero...JobRequest.longestTimeLimit
        if case .simulate(let simulation) = task.work, !sane.contains(simulation.duration) { return false }
        return sane.contains(timeLimit)
    }
}

/// What became of it.
package struct RunReply: Codable, Sendable {
    package var outcome: TaskOutcome
    /// Time it took on the node, without waiting and travelling.
    package var duration: Duration
}

/// Tells a node how many slots a coordinator could use there, in total.
package struct ReserveRequest: Codable, Sendable {
    package var wanted: Int
}

/// Waits for a change of the lease; asking renews it.
package struct LeaseWatch: Codable, Sendable {
    /// The newest epoch the coordinator knows of.
    package var epoch: UInt64
}

/// What a node says of itself.
package struct NodeStatus: Codable, Sendable {
    package var node: NodeID
    package var name: String
    package var version: String
    package var slots: Int
    package var running: Int
    /// Attempts finished since the start, well or badly.
    package var completed: Int
    package var failed: Int
    package var uptime: Duration
    /// Processes that want to run, averaged over a minute (getloadavg); `nil` where the system does not tell.
    package var load: Double?
}
