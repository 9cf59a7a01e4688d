import Transport

/// What a coordinator wishes for on each node, what the node has been told, and who follows its lease. A value: the
/// owner makes the calls and reports how they went.
///
/// Wishes change faster than calls are made. One call to a node is under way at a time and always carries the newest
/// wish, so that an older one never arrives last; and each node's lease is followed by one watch.
struct WishBook {
    private struct Wish {
        var wanted: Int
        /// What the node was told last; `nil` where it is to be told (again).
        var told: Int?
    }

    private var wishes: [NodeID: Wish] = [:]
    private var telling: Set<NodeID> = []
    /// The number of the watch on each node; a newer one ends an older.
    private var watches: [NodeID: Int] = [:]
    private var lastWatch = 0

    /// Sets how many slots are wished for. `true` where somebody is to start telling the node.
    mutating func wish(_ wanted: Int, on node: NodeID) -> Bool {
        wishes[node] = Wish(wanted: wanted, told: wishes[node]?.told)
        return telling.insert(node).inserted
    }

    /// What the node is to be told now; `nil` where it knows, which ends the telling.
    mutating func next(for node: NodeID) -> Int? {
        guard let wish = wishes[node], wish.wanted != wish.told else {
            telling.remove(node)
            return nil
        }
        wishes[node]?.told = wish.wanted
        return wish.wanted
    }

    /// The call that told the node may not have arrived.
    mutating func failed(on node: NodeID) {
        wishes[node]?.told = nil
    }

    /// The node cannot be told any more.
    mutating func gaveUp(on node: NodeID) {
        wishes[node]?.told = nil
        telling.remove(node)
    }

    /// The node has forgotten the lease, and with it what it was told.
    mutating func leaseLost(on node: NodeID) {
        watches[node] = nil
        wishes[node]?.told = nil
    }

    mutating func nodeLost(_ node: NodeID) {
        wishes[node] = nil
        watches[node] = nil
    }

    /// The number of a new watch, where slots are wished for and nobody watches yet.
    mutating func startWatch(on node: NodeID) -> Int? {
        guard (wishes[node]?.wanted ?? 0) > 0, watches[node] == nil else { return nil }
        lastWatch += 1
        watches[node] = lastWatch
        return lastWatch
    }

    func isCurrent(_ watch: Int, on node: NodeID) -> Bool { watches[node] == watch }

    mutating func stopWatch(_ watch: Int, on node: NodeID) {
        if isCurrent(watch, on: node) { watches[node] = nil }
    }
}
