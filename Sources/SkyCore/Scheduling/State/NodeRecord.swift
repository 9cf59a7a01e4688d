import Transport

/// What the scheduler knows of one live node.
struct NodeRecord {
    /// An attempt that was sent to the node.
    struct Sent {
        var at: Duration
        /// How long the attempt is expected to take, by the mean of its job, in nanoseconds.
        var expected: Int
        /// The person for whom it occupies a slot, by the place among all people; `nil` where its job is not known.
        var person: Int?
    }

    let id: NodeID
    let name: String
    /// Whether the node's results may stand beside those of the coordinator's node: a node of another arithmetic
    /// measures otherwise.
    let measuresAlike: Bool
    /// Slots leased there for this coordinator.
    var slots = 0
    /// The fencing token of the newest lease that we know of.
    var fencingToken: UInt64?
    /// Attempts that run or wait there. Stopped attempts are included until they are reported.
    private(set) var running: [AttemptID: Sent] = [:]
    /// How long all of them are expected to take together, in nanoseconds.
    private(set) var expected = 0
    /// The demand that was last sent to the node.
    var wanted = 0
    var isDraining = false
    /// The node has no slots for anybody, and runs nothing until it is given some.
    var hasNoSlots = false
    /// The node refused an attempt or could not be reached. It is left alone until this time, or until it sends a new lease.
    var pausedUntil: Duration?
    /// While this is `true`, nothing new is sent there: a task that is suspected of killing nodes runs there alone, or will.
    var isSetAside = false
    /// Whether the node may hold as many waiting tasks as it has slots, so that their input is fetched meanwhile.
    var looksAhead = false
    var speed = NodeSpeed()
    /// Position in the roster's list of nodes with room.
    var place: Int?

    /// The time that is assumed for a task about which nothing is known: too long for any such task to wait on a node.
    static let unknownTime = 1_000_000_000_000
    /// How much work may wait on a node for each of its slots, in nanoseconds and in attempts. It is enough to bridge a
    /// round trip to the node, and so little that it might as well wait here.
    static let waitingTime = 20_000_000
    static let waitingLimit = 64

    /// Whether tasks may go there sooner or later.
    var isUsable: Bool { !isDraining && !hasNoSlots }
    var isOpen: Bool { isUsable && pausedUntil == nil && !isSetAside }
    var hasIdleSlot: Bool { running.count < slots && isOpen }
    var hasRoom: Bool { isOpen && (running.count < slots || spareTime > 0 || canLookAhead) }
    var canLookAhead: Bool { looksAhead && running.count < 2 * slots }

    /// How much more work may wait there, in nanoseconds.
    var spareTime: Int {
        guard running.count < slots * (1 + NodeRecord.waitingLimit) else { return 0 }
        return max(0, slots * NodeRecord.waitingTime - expected)
    }

    init(id: NodeID, name: String, measuresAlike: Bool) {
        self.id = id
        self.name = name
        self.measuresAlike = measuresAlike
    }

    /// Returns `false` for an attempt that runs or waits there already.
    mutating func add(_ attempt: AttemptID, _ sent: Sent) -> Bool {
        guard running.updateValue(sent, forKey: attempt) == nil else { return false }
        expected += sent.expected
        return true
    }

    mutating func remove(_ attempt: AttemptID) -> Sent? {
        guard let sent = running.removeValue(forKey: attempt) else { return nil }
        expected -= sent.expected
        return sent
    }
}

extension JobOptions {
    func allows(_ node: NodeRecord) -> Bool {
        if needsAlike == true, !node.measuresAlike { return false }
        return names(node)
    }

    /// Whether the submitter's lists of nodes let the job run on this node.
    func names(_ node: NodeRecord) -> Bool {
        guard namesNodes else { return true }
        let id = node.id.description
        if avoid.contains(node.name) || avoid.contains(id) { return false }
        return use.isEmpty || use.contains(node.name) || use.contains(id)
    }
}
