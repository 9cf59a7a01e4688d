import Transport

/// The live nodes, and which of them have room.
struct Roster {
    /// The node the coordinator lives in.
    let local: NodeID
    /// Live nodes in a stable order.
    private(set) var order: [NodeID] = []
    /// Nodes to which new attempts may go now, in no particular order.
    private(set) var withRoom: [NodeID] = []
    /// Live nodes that are not draining.
    private(set) var usableCount = 0
    /// Increases whenever a node joins, leaves or changes its draining.
    private(set) var version = 0
    /// Nodes whose record changed since the list was last emptied; may name one twice, or one that is gone.
    private(set) var changed: [NodeID] = []

    private var records: [NodeID: NodeRecord] = [:]

    init(local: NodeID) {
        self.local = local
    }

    var count: Int { records.count }

    subscript(node: NodeID) -> NodeRecord? { records[node] }

    func isLive(_ node: NodeID) -> Bool { records[node] != nil }

    func isUsable(_ node: NodeID) -> Bool { records[node].map { !$0.isDraining } ?? false }

    mutating func insert(_ node: NodeID) {
        guard records[node] == nil else { return }
        records[node] = NodeRecord()
        order.insert(node, at: order.firstIndex { $0 > node } ?? order.endIndex)
        usableCount += 1
        version += 1
    }

    mutating func remove(_ node: NodeID) -> NodeRecord? {
        update(node) { $0.slots = 0 }
        guard let record = records.removeValue(forKey: node) else { return nil }
        order.removeAll { $0 == node }
        if !record.isDraining { usableCount -= 1 }
        version += 1
        return record
    }

    mutating func setDraining(_ draining: Bool, _ node: NodeID) {
        guard let record = records[node], record.isDraining != draining else { return }
        usableCount += draining ? -1 : 1
        version += 1
        update(node) { $0.isDraining = draining }
    }

    /// Changes a record and keeps the list of nodes with room true. Does nothing for a node that is gone.
    mutating func update(_ node: NodeID, _ change: (inout NodeRecord) -> Void) {
        guard let index = records.index(forKey: node) else { return }
        change(&records.values[index])
        changed.append(node)
        let hasRoom = records.values[index].hasRoom
        if hasRoom, records.values[index].place == nil {
            records.values[index].place = withRoom.count
            withRoom.append(node)
        } else if !hasRoom, let place = records.values[index].place {
            records.values[index].place = nil
            let last = withRoom.removeLast()
            if place < withRoom.count {
                withRoom[place] = last
                records[last]?.place = place
            }
        }
    }

    mutating func forgetChanges() {
        changed.removeAll(keepingCapacity: true)
    }

    /// The node with room that has the smallest part of its slots in use; among equals the fastest, then the first in a
    /// stable order.
    func leastLoaded(now: Duration, halfLife: Duration, except skipped: Set<NodeID>) -> NodeID? {
        if withRoom.count == 1, skipped.isEmpty { return withRoom.first }
        var best: (node: NodeID, record: NodeRecord, rank: Int)?
        for node in withRoom {
            guard let record = records[node], skipped.isEmpty || !skipped.contains(node) else { continue }
            let rank = record.speed.rank(now: now, halfLife: halfLife)
            guard let current = best else {
                best = (node, record, rank)
                continue
            }
            // running / slots, compared without dividing.
            let load = record.running.count * current.record.slots
            let bestLoad = current.record.running.count * record.slots
            if (load, rank, node) < (bestLoad, current.rank, current.node) { best = (node, record, rank) }
        }
        return best?.node
    }
}
