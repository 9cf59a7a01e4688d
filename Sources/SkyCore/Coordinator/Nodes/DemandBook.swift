import Transport

/// The demand of a coordinator for each node, and the demand that was last sent to it. It is a value: the owner makes the calls and
/// reports how they went.
///
/// Demands change faster than calls are made. One call to a node is under way at a time and always carries the newest
/// demand, so that an older one never arrives last.
struct DemandBook {
    private struct Demand {
        var requested: Int
        /// The demand that was last sent to the node; `nil` where it has to be sent, or sent again.
        var published: Int?
    }

    private var demands: [NodeID: Demand] = [:]
    private var sending: Set<NodeID> = []

    /// Sets the demand for a node. Returns `true` where the owner has to start sending it.
    ///
    /// From the moment when it demands less, the coordinator counts on fewer slots. If the demand rises again before the lower one
    /// was sent, the demand is sent all the same, although the node may know it already. The node's answer says how many slots the
    /// coordinator can count on.
    mutating func demand(_ requested: Int, on node: NodeID) -> Bool {
        let before = demands[node]
        demands[node] = Demand(
            requested: requested, published: requested < (before?.requested ?? 0) ? nil : before?.published)
        return sending.insert(node).inserted
    }

    /// The demand to send to the node now. `nil` means that the node knows it already, which ends the sending.
    mutating func next(for node: NodeID) -> Int? {
        guard let demand = demands[node], demand.requested != demand.published else {
            sending.remove(node)
            return nil
        }
        demands[node]?.published = demand.requested
        return demand.requested
    }

    /// The demand is to be sent once more, because something that goes with it has changed. Returns `true` where the owner has to start
    /// sending it.
    mutating func demandAgain(on node: NodeID) -> Bool {
        guard requested(on: node) > 0 else { return false }
        demands[node]?.published = nil
        return sending.insert(node).inserted
    }

    /// The call with the demand may not have arrived.
    mutating func failed(on node: NodeID) {
        demands[node]?.published = nil
    }

    /// The node has forgotten the lease. The scheduler will set the demand again. Until then it is zero, also for a call that is
    /// under way and still brings a lease.
    mutating func leaseLost(on node: NodeID) {
        demands[node] = Demand(requested: 0, published: nil)
    }

    mutating func nodeLost(_ node: NodeID) {
        demands[node] = nil
    }

    /// Whether the demand that was last sent to the node is the present one.
    func isPublished(_ node: NodeID) -> Bool { demands[node].map { $0.requested == $0.published } ?? false }

    /// How many slots are demanded.
    func requested(on node: NodeID) -> Int { demands[node]?.requested ?? 0 }
}
