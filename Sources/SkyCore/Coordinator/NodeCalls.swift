import Transport

/// Which calls to nodes are due, as a value: the owner makes them, one of a kind to a node at a time, and reports how they went.
///
/// - `reserve` carries the newest demand (`DemandBook`).
/// - `assign` carries all attempts and stops that have gathered, so that a stop never overtakes its attempt.
/// - `collect` goes on as long as anything is to be expected from a node: it brings results and the lease, and renews that.
struct NodeCalls {
    enum Kind {
        case reserve, assign, collect
    }

    private(set) var demands = DemandBook()
    private let incarnation: CoordinatorIncarnation
    /// What is to be sent to each node next.
    private var outgoing: [NodeID: Assignment] = [:]
    private var assigning: Set<NodeID> = []
    private var collecting: Set<NodeID> = []
    /// Nodes that have not said yet what they have of ours.
    private var unasked: Set<NodeID> = []
    /// Of the newest lease heard of from each node.
    private var epochs: [NodeID: UInt64] = [:]

    /// Attempts in one message: many small ones, or a few that carry a background with them.
    private static let assignmentLimit = (small: 256, large: 8)

    init(incarnation: CoordinatorIncarnation) {
        self.incarnation = incarnation
    }

    /// Takes what the core wants of a node, and says which calls are to be begun.
    mutating func follow(_ output: CoordinatorCore.Output) -> [(Kind, NodeID)] {
        switch output {
        case .reserve(let node, let wanted):
            return (demands.demand(wanted, on: node) ? [(.reserve, node)] : []) + collect(from: node)
        case .assign(let request, let node):
            outgoing[node, default: Assignment(incarnation: incarnation)].attempts.append(request)
            return assign(to: node)
        case .stop(let attempt, let node):
            outgoing[node, default: Assignment(incarnation: incarnation)].stop.append(attempt)
            return assign(to: node)
        case .acknowledge(let node):
            if outgoing[node] == nil { outgoing[node] = Assignment(incarnation: incarnation) }
            return assign(to: node)
        case .store, .lookUp, .published:
            return []
        }
    }

    /// A link to a node is there (again): asks what it has of ours.
    mutating func joined(_ node: NodeID) -> [(Kind, NodeID)] {
        unasked.insert(node)
        return collect(from: node)
    }

    mutating func lost(_ node: NodeID) {
        demands.nodeLost(node)
        outgoing[node] = nil
        epochs[node] = nil
        unasked.remove(node)
    }

    private mutating func assign(to node: NodeID) -> [(Kind, NodeID)] {
        (assigning.insert(node).inserted ? [(.assign, node)] : []) + collect(from: node)
    }

    private mutating func collect(from node: NodeID) -> [(Kind, NodeID)] {
        collecting.insert(node).inserted ? [(.collect, node)] : []
    }

    // MARK: - Reserving

    /// What a node is to be told now; `nil` where it knows, which ends the telling.
    mutating func nextReservation(for node: NodeID) -> ReserveRequest? {
        demands.next(for: node).map { ReserveRequest(incarnation: incarnation, wanted: $0) }
    }

    /// The call may not have arrived.
    mutating func reservationFailed(for node: NodeID) { demands.failed(on: node) }

    // MARK: - Assigning

    /// What is to be sent to a node now; `nil` where nothing is, which ends the sending.
    mutating func nextAssignment(for node: NodeID, _ core: CoordinatorCore) -> Assignment? {
        guard var next = outgoing.removeValue(forKey: node) else {
            assigning.remove(node)
            return nil
        }
        let isSmall = next.attempts.first?.task.work.value.isSmall ?? true
        let limit = isSmall ? NodeCalls.assignmentLimit.small : NodeCalls.assignmentLimit.large
        if next.attempts.count > limit {
            var rest = Assignment(incarnation: incarnation)
            // Stops go with the last attempts: none may overtake its own.
            (rest.attempts, rest.stop) = (Array(next.attempts[limit...]), next.stop)
            next.attempts.removeSubrange(limit...)
            next.stop = []
            outgoing[node] = rest
        }
        next.acknowledged = core.nodes.deliveries[node]?.acknowledged ?? 0
        return next
    }

    /// A call failed that may have arrived all the same: asks what came of it.
    mutating func assignmentIsUncertain(for node: NodeID) -> [(Kind, NodeID)] { joined(node) }

    // MARK: - Collecting

    /// What to ask a node for next; `nil` where nothing is to be expected from it, which ends the asking.
    mutating func nextCollection(from node: NodeID, _ core: CoordinatorCore) -> CollectRequest? {
        let delivery = core.nodes.deliveries[node] ?? Delivery()
        let isFirst = unasked.contains(node)
        guard core.isPresent(node),
            isFirst || demands.wanted(on: node) > 0 || core.scheduler.running(on: node) > 0 || !delivery.isSettled
        else {
            collecting.remove(node)
            return nil
        }
        return CollectRequest(
            incarnation: incarnation, received: delivery.received, acknowledged: delivery.acknowledged,
            epoch: epochs[node] ?? 0, isFirst: isFirst)
    }

    /// A collection has come.
    ///
    /// - Returns: whether the lease has been lost.
    mutating func collected(_ reply: CollectReply, _ request: CollectRequest, from node: NodeID) -> Bool {
        if request.isFirst { unasked.remove(node) }
        guard reply.lease == nil, epochs[node] != nil else { return false }
        epochs[node] = nil
        demands.leaseLost(on: node)
        return true
    }

    /// Whether the answer to a demand says something new: also the lease that was known, because less was counted on since less
    /// was demanded.
    mutating func reserved(_ lease: Lease, on node: NodeID) -> Bool {
        let isNew = leased(lease, on: node)
        return isNew || demands.isTold(node)
    }

    /// Whether a lease says something new.
    mutating func leased(_ lease: Lease, on node: NodeID) -> Bool {
        guard lease.epoch != epochs[node] else { return false }
        epochs[node] = max(lease.epoch, epochs[node] ?? 0)
        return true
    }
}
