import Transport

/// The live nodes, and which of them have room.
struct Roster {
    /// The node the coordinator lives in.
    let local: NodeID
    /// Live nodes in a stable order.
    private(set) var order: [NodeID] = []
    /// Nodes to which new attempts may go now, in no particular order.
    private(set) var withRoom: [NodeID] = []
    /// Live nodes that have slots.
    private(set) var workingCount = 0
    /// Live nodes that have slots and are not draining.
    private(set) var usableCount = 0
    /// Increases whenever a node joins, leaves or changes its draining.
    private(set) var version = 0
    /// Nodes whose record changed since the list was last emptied. The list may name a node twice, or one that is gone.
    private(set) var changed: [NodeID] = []

    /// The records are in an array, so that a record is read where it is. A dictionary would hand out a copy, reference
    /// counts included.
    private var records: [NodeRecord] = []
    private var position: [NodeID: Int] = [:]

    init(local: NodeID) {
        self.local = local
    }

    subscript(node: NodeID) -> NodeRecord? { position[node].map { records[$0] } }

    /// How fast each node works, as far as that was measured: 1 is average, 2 takes half as long.
    func speeds(now: Duration, halfLife: Duration) -> [NodeID: Double] {
        var speeds: [NodeID: Double] = [:]
        for node in order { speeds[node] = self[node]?.speed.speed(now: now, halfLife: halfLife) }
        return speeds
    }

    func isLive(_ node: NodeID) -> Bool { position[node] != nil }

    /// Whether a node is alive and has slots.
    func isWorking(_ node: NodeID) -> Bool { position[node].map { !records[$0].hasNoSlots } ?? false }

    func isUsable(_ node: NodeID) -> Bool { position[node].map { records[$0].isUsable } ?? false }

    /// When an attempt was sent to a node, if it occupies a slot there.
    func sent(_ attempt: AttemptID, to node: NodeID) -> Duration? {
        position[node].flatMap { records[$0].running[attempt]?.at }
    }

    /// Live nodes that a job does not use, sorted.
    func barred(for options: JobOptions) -> [NodeID] {
        guard options.isRestricted else { return [] }
        return records.filter { !options.allows($0) }.map(\.id).sorted()
    }

    func allows(_ node: NodeID, for options: JobOptions) -> Bool {
        position[node].map { options.allows(records[$0]) } ?? false
    }

    /// The number of all leased slots.
    var slots: Int { records.reduce(0) { $0 + $1.slots } }

    /// The number of slots that stand idle.
    var idleSlots: Int {
        withRoom.reduce(0) { sum, node in
            guard let index = position[node], records[index].hasIdleSlot else { return sum }
            return sum + records[index].slots - records[index].running.count
        }
    }

    mutating func insert(_ node: NodeID, name: String, measuresAlike: Bool = true) {
        guard position[node] == nil else { return }
        position[node] = records.count
        records.append(NodeRecord(id: node, name: name, measuresAlike: measuresAlike))
        order.insert(node, at: order.firstIndex { $0 > node } ?? order.endIndex)
        count(records[records.count - 1], 1)
        version += 1
    }

    mutating func remove(_ node: NodeID) -> NodeRecord? {
        update(node) { $0.slots = 0 }
        guard let index = position.removeValue(forKey: node) else { return nil }
        let record = records[index]
        let last = records.removeLast()
        if index < records.count {
            records[index] = last
            position[last.id] = index
        }
        order.removeAll { $0 == node }
        count(record, -1)
        version += 1
        return record
    }

    mutating func setDraining(_ draining: Bool, _ node: NodeID) {
        guard let record = self[node], record.isDraining != draining else { return }
        changeUse(of: record) { $0.isDraining = draining }
    }

    /// Sets whether a node has no slots for anybody. The demand on it stays, so that it says when it has some.
    ///
    /// - Returns: whether that is new.
    mutating func setSlotless(_ isSlotless: Bool, _ node: NodeID) -> Bool {
        guard let record = self[node], record.hasNoSlots != isSlotless else { return false }
        changeUse(of: record) { $0.hasNoSlots = isSlotless }
        return true
    }

    private mutating func changeUse(of record: NodeRecord, _ change: (inout NodeRecord) -> Void) {
        count(record, -1)
        update(record.id, change)
        self[record.id].map { count($0, 1) }
        version += 1
    }

    private mutating func count(_ record: NodeRecord, _ change: Int) {
        if !record.hasNoSlots { workingCount += change }
        if record.isUsable { usableCount += change }
    }

    /// Changes a record and keeps the list of nodes with room correct. Does nothing for a node that is gone.
    mutating func update(_ node: NodeID, _ change: (inout NodeRecord) -> Void) {
        guard let index = position[node] else { return }
        change(&records[index])
        changed.append(node)
        let hasRoom = records[index].hasRoom
        if hasRoom, records[index].place == nil {
            records[index].place = withRoom.count
            withRoom.append(node)
        } else if !hasRoom, let place = records[index].place {
            records[index].place = nil
            let last = withRoom.removeLast()
            if place < withRoom.count {
                withRoom[place] = last
                if let moved = position[last] { records[moved].place = place }
            }
        }
    }

    mutating func forgetChanges() {
        changed.removeAll(keepingCapacity: true)
    }

    /// The node with room that has the smallest part of its slots in use. Among equals the fastest node comes first; then
    /// the local one, because it has the input at hand and can be asked soonest; then the first in a stable order.
    func leastLoaded(now: Duration, halfLife: Duration, except skipped: Set<NodeID>) -> NodeID? {
        if withRoom.count == 1, skipped.isEmpty { return withRoom.first }
        var best: (index: Int, rank: Int)?
        for node in withRoom {
            guard let index = position[node], skipped.isEmpty || !skipped.contains(node) else { continue }
            let rank = records[index].speed.rank(now: now, halfLife: halfLife)
            if let current = best {
                // The loads, running / slots, are compared without dividing.
                let load = records[index].running.count * records[current.index].slots
                let bestLoad = records[current.index].running.count * records[index].slots
                let other = records[current.index].id
                let isFirst = node == local || (other != local && node < other)
                guard (load, rank) < (bestLoad, current.rank) || (load, rank) == (bestLoad, current.rank) && isFirst
                else { continue }
            }
            best = (index, rank)
        }
        return best.map { records[$0.index].id }
    }
}
