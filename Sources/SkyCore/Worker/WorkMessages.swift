package import Transport

/// Asks a node to run one attempt.
package struct RunRequest: Codable, Sendable {
    package var attempt: AttemptID
    package var task: ScanTask
    /// When this time is over, the attempt is stopped and counts as failed.
    package var timeLimit: Duration
    /// The receipt comes back with the result. It proves to the coordinator that it sent the attempt to this node.
    package var receipt: UInt64?

    package init(attempt: AttemptID, task: ScanTask, timeLimit: Duration) {
        self.attempt = attempt
        self.task = task
        self.timeLimit = timeLimit
    }
}

/// Tells a node how many slots a coordinator could use there in total.
package struct ReserveRequest: Codable, Sendable {
    package var incarnation: CoordinatorIncarnation
    package var wanted: Int
    /// For how many people with jobs the coordinator works; `nil` for one, and from nodes of versions that do not report this.
    package var people: Int?
    /// That the coordinator speaks; `nil` where its journal was made by an earlier version.
    var proof: IdentityProof?

    private enum CodingKeys: String, CodingKey {
        case incarnation = "life"
        case wanted, people, proof
    }
}

/// Tells a node which attempts to run and which to stop. Results are fetched by `collect`.
package struct Assignment: Codable, Sendable {
    package var incarnation: CoordinatorIncarnation
    package var attempts: [RunRequest] = []
    /// Attempts to stop, which were assigned before.
    package var stop: [AttemptID] = []
    /// The same as in `CollectRequest`.
    package var acknowledged: UInt64 = 0
    /// The same as in `ReserveRequest`.
    var proof: IdentityProof?

    private enum CodingKeys: String, CodingKey {
        case incarnation = "life"
        case attempts, stop, acknowledged, proof
    }
}

/// Asks for results and the lease. The node waits a while if there is nothing new. The request renews the lease.
package struct CollectRequest: Codable, Sendable {
    package var incarnation: CoordinatorIncarnation
    /// The sequence number up to which results have arrived; 0 for none.
    package var received: UInt64
    /// The sequence number up to which all results are stored, so that the node may forget them; 0 for none.
    package var acknowledged: UInt64
    /// The newest fencing token of the lease that the coordinator knows.
    package var fencingToken: UInt64
    /// Whether the coordinator wants to know which of its attempts run and wait there, as it does after a new link.
    package var isFirst: Bool
    /// The same as in `ReserveRequest`.
    var proof: IdentityProof?

    private enum CodingKeys: String, CodingKey {
        case incarnation = "life"
        case received, acknowledged
        case fencingToken = "epoch"
        case isFirst, proof
    }
}

/// What a node has for a coordinator.
package struct CollectReply: Codable, Sendable {
    /// The results after the one that was acknowledged, in order, as far as they fit.
    package var results: [AttemptResult]
    /// `nil` if the lease has run out or was never given.
    package var lease: Lease?
    /// The attempts that run or wait there, if the request asked for them.
    package var attempts: [AttemptID]?
    /// The receipts of these attempts, one for each; 0 for an attempt that came without a receipt.
    package var receipts: [UInt64]?
}

extension CollectRequest {
    /// The same with a proof.
    func proving(_ proof: IdentityProof?) -> CollectRequest {
        var request = self
        request.proof = proof
        return request
    }
}

extension CollectReply {
    /// Whether the reply says nothing that is new to the coordinator.
    func isEmpty(for request: CollectRequest) -> Bool {
        results.isEmpty && !request.isFirst && (lease == nil || lease?.fencingToken == request.fencingToken)
    }
}

/// What a node reports about itself.
package struct NodeStatus: Codable, Sendable {
    package var node: NodeID
    package var name: String
    package var version: String
    package var slots: Int
    package var running: Int
    /// How many attempts have completed, and how many have failed, since the start.
    package var completed: Int
    package var failed: Int
    package var uptime: Duration
    /// How many processes wanted to run, averaged over a minute (getloadavg); `nil` if the system does not tell.
    package var load: Double?
}

extension NodeStatus {
    /// Many times more slots than any machine has.
    private static let slotLimit = 1 << 20
    /// Longer than any machine runs.
    private static let longestUptime = Duration.seconds(100 * 365 * 86_400)

    /// Whether the status is plausible. It has to be, because it is shown, summed up and drawn.
    var isSane: Bool {
        let (slots, counts) = (0...NodeStatus.slotLimit, 0...Int(Int32.max) * 1000)
        return Hello.isValidName(name) && Hello.isValidName(version) && slots.contains(self.slots)
            && slots.contains(running) && counts.contains(completed) && counts.contains(failed)
            && (.zero...NodeStatus.longestUptime).contains(uptime) && load.map { $0.isFinite && $0 >= 0 } != false
    }
}
