import Transport

/// What a coordinator demands of each node, and what the node has been told. A value: the owner makes the calls and reports
/// how they went.
///
/// Demands change faster than calls are made. One call to a node is under way at a time and always carries the newest
/// demand, so that an older one never arrives last.
struct DemandBook {
    private struct Demand {
        var wanted: Int
        /// What the node was told last; `nil` where it is to be told (again).
        var published: Int?
    }

    private var demands: [NodeID: Demand] = [:]
    private var telling: Set<NodeID> = []

    /// Sets how many slots are demanded. `true` where somebody is to start telling the node.
    ///
    /// Whoever demands less counts on less from then on. Where more is demanded again before the node was told, it is told
    /// all the same, although that may be what it was told last: its answer says what there is to count on.
    mutating func demand(_ wanted: Int, on node: NodeID) -> Bool {
        let before = demands[node]
        demands[node] = Demand(wanted: wanted, published: wanted < (before?.wanted ?? 0) ? nil : before?.published)
        return telling.insert(node).inserted
    }

    /// What the node is to be told now; `nil` where it knows, which ends the telling.
    mutating func next(for node: NodeID) -> Int? {
        guard let demand = demands[node], demand.wanted != demand.published else {
            telling.remove(node)
            return nil
        }
        demands[node]?.published = demand.wanted
        return demand.wanted
    }

    /// The call that told the node may not have arrived.
    mutating func failed(on node: NodeID) {
        demands[node]?.published = nil
    }

    /// The node has forgotten the lease. What is demanded now will be said again; until then it is nothing, also for a call
    /// that is under way and brings a lease after all.
    mutating func leaseLost(on node: NodeID) {
        demands[node] = Demand(wanted: 0, published: nil)
    }

    mutating func nodeLost(_ node: NodeID) {
        demands[node] = nil
    }

    /// Whether the last thing the node was told is what is demanded.
    func isTold(_ node: NodeID) -> Bool { demands[node].map { $0.wanted == $0.published } ?? false }

    /// How many slots are demanded.
    func wanted(on node: NodeID) -> Int { demands[node]?.wanted ?? 0 }
}
