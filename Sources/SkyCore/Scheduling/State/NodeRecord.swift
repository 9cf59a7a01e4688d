import Transport

/// What the scheduler knows of one live node.
struct NodeRecord {
    /// An attempt that has been sent there.
    struct Sent {
        var at: Duration
        /// What it will take, by the mean of its job, in nanoseconds.
        var expected: Int
    }

    let id: NodeID
    let name: String
    /// Whether its results may stand beside those of the coordinator's node: one of another series measures differently.
    let measuresAlike: Bool
    /// Slots leased there for this coordinator.
    var slots = 0
    /// Of the newest lease heard of.
    var epoch: UInt64?
    /// Attempts that run or wait there, stopped ones included until they are reported.
    private(set) var running: [AttemptID: Sent] = [:]
    /// What all of them will take together, in nanoseconds.
    private(set) var expected = 0
    /// What the node was last told that we demand.
    var wanted = 0
    var isDraining = false
    /// The node refused an attempt or was out of reach: it is left alone until then, or until it sends a new lease.
    var pausedUntil: Duration?
    /// Nothing new is sent there: a task that is suspected of killing nodes is to run there alone, or does.
    var isSetAside = false
    /// Whether as many tasks may wait there as it has slots, so that their input is fetched meanwhile.
    var looksAhead = false
    var speed = NodeSpeed()
    /// Position in the roster's list of nodes with room.
    var place: Int?

    /// What is taken for the time of a task of which nothing is known: too long for any of them to wait on a node.
    static let unknownTime = 1_000_000_000_000
    /// Work that may wait on a node for each of its slots, in nanoseconds and in attempts: enough to bridge a journey there and
    /// back, little enough that it might as well wait here.
    static let waitingTime = 20_000_000
    static let waitingLimit = 64

    var isOpen: Bool { !isDraining && pausedUntil == nil && !isSetAside }
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

    mutating func add(_ attempt: AttemptID, at now: Duration, expected time: Int) {
        guard running.updateValue(Sent(at: now, expected: time), forKey: attempt) == nil else { return }
        expected += time
    }

    mutating func remove(_ attempt: AttemptID) {
        if let sent = running.removeValue(forKey: attempt) { expected -= sent.expected }
    }
}
