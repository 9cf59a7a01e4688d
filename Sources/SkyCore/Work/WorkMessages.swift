package import Transport

/// Asks a node to run one attempt.
package struct RunRequest: Codable, Sendable {
    package var attempt: AttemptID
    package var task: ScanTask
    /// After this the attempt is stopped and counts as failed.
    package var timeLimit: Duration
    /// Comes back with the result: proves to the coordinator that it sent the attempt to this node.
    package var receipt: UInt64?

    package init(attempt: AttemptID, task: ScanTask, timeLimit: Duration) {
        self.attempt = attempt
        self.task = task
        self.timeLimit = timeLimit
    }
}

/// Tells a node how many slots a coordinator could use there, in total.
package struct ReserveRequest: Codable, Sendable {
    package var incarnation: CoordinatorIncarnation
    package var wanted: Int

    private enum CodingKeys: String, CodingKey {
        case incarnation = "life"
        case wanted
    }
}

/// What to run, and what to run no longer. Results come by `collect`.
package struct Assignment: Codable, Sendable {
    package var incarnation: CoordinatorIncarnation
    package var attempts: [RunRequest] = []
    /// Attempts assigned before.
    package var stop: [AttemptID] = []
    /// As in `CollectRequest`.
    package var acknowledged: UInt64 = 0

    private enum CodingKeys: String, CodingKey {
        case incarnation = "life"
        case attempts, stop, acknowledged
    }
}

/// Asks for results and the lease, and waits a while where there is nothing new. Asking renews the lease.
package struct CollectRequest: Codable, Sendable {
    package var incarnation: CoordinatorIncarnation
    /// The sequence number up to which results have arrived; 0 for none.
    package var received: UInt64
    /// The sequence number up to which all results are stored, so that the node may forget them; 0 for none.
    package var acknowledged: UInt64
    /// The newest epoch of the lease that the coordinator knows of.
    package var epoch: UInt64
    /// Whether the coordinator wants to know what runs and waits for it there, as it does after a new link.
    package var isFirst: Bool

    private enum CodingKeys: String, CodingKey {
        case incarnation = "life"
        case received, acknowledged, epoch, isFirst
    }
}

/// What a node has for a coordinator.
package struct CollectReply: Codable, Sendable {
    /// In order; all after the one that was acknowledged, as far as they fit.
    package var results: [AttemptResult]
    /// `nil` where it has run out, or was never given.
    package var lease: Lease?
    /// What runs or waits there, where it was asked for.
    package var attempts: [AttemptID]?
    /// Their receipts, one for each; 0 for one that came without.
    package var receipts: [UInt64]?
}

extension CollectReply {
    /// Whether it says nothing that who asked does not know.
    func isEmpty(for request: CollectRequest) -> Bool {
        results.isEmpty && !request.isFirst && (lease == nil || lease?.epoch == request.epoch)
    }
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

extension NodeStatus {
    /// Slots of any machine, many times over.
    private static let slotLimit = 1 << 20
    /// Longer than any machine runs.
    private static let longestUptime = Duration.seconds(100 * 365 * 86_400)

    /// Whether it can be meant: what a member says of itself is shown, summed up and drawn.
    var isSane: Bool {
        let (slots, counts) = (0...NodeStatus.slotLimit, 0...Int(Int32.max) * 1000)
        return Hello.isValidName(name) && Hello.isValidName(version) && slots.contains(self.slots)
            && slots.contains(running) && counts.contains(completed) && counts.contains(failed)
            && (.zero...NodeStatus.longestUptime).contains(uptime) && load.map { $0.isFinite && $0 >= 0 } != false
    }
}
