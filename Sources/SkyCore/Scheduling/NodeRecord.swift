import Transport

/// What the scheduler knows of one live node.
struct NodeRecord {
    let id: NodeID
    /// Slots leased there for this coordinator.
    var slots = 0
    /// Of the newest lease heard of.
    var epoch: UInt64?
    /// Attempts that occupy a slot there, stopped ones included until they are reported, with when they were sent.
    var running: [AttemptID: Duration] = [:]
    /// What the node was last told that we wish for.
    var wanted = 0
    var isDraining = false
    /// The node refused an attempt or was out of reach: it is left alone until then, or until it sends a new lease.
    var pausedUntil: Duration?
    var speed = NodeSpeed()
    /// Position in the roster's list of nodes with room.
    var place: Int?

    var hasRoom: Bool { running.count < slots && !isDraining && pausedUntil == nil }

    init(id: NodeID) {
        self.id = id
    }
}
