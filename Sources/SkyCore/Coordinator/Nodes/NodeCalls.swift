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

    /// A loop of calls of one kind to one node, which goes on until there is nothing more to say.
    struct Call: Hashable {
        var kind: Kind
        var node: NodeID

        init(_ kind: Kind, _ node: NodeID) { (self.kind, self.node) = (kind, node) }
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

    // MARK: - What is wanted of nodes

    /// So many slots are demanded of a node.
    mutating func reserve(_ slots: Int, on node: NodeID) -> [Call] {
        (demands.demand(slots, on: node) ? [Call(.reserve, node)] : []) + collect(from: node)
    }

    /// A node is to run an attempt.
    mutating func assign(_ request: RunRequest, to node: NodeID) -> [Call] {
        outgoing[node, default: Assignment(incarnation: incarnation)].attempts.append(request)
        return assign(to: node)
    }

    /// A node is to stop an attempt.
    mutating func stop(_ attempt: AttemptID, on node: NodeID) -> [Call] {
        outgoing[node, default: Assignment(incarnation: incarnation)].stop.append(attempt)
        return assign(to: node)
    }

    /// A node should hear soon what it may forget.
    mutating func acknowledge(_ node: NodeID) -> [Call] {
        if outgoing[node] == nil { outgoing[node] = Assignment(incarnation: incarnation) }
        return assign(to: node)
    }

    /// A link to a node is there (again): asks what it has of ours.
    mutating func join(_ node: NodeID) -> [Call] {
        unasked.insert(node)
        return collect(from: node)
    }

    /// A node is gone: what was to be sent to it is not.
    mutating func lose(_ node: NodeID) {
        demands.nodeLost(node)
        outgoing[node] = nil
        epochs[node] = nil
        unasked.remove(node)
    }

    private mutating func assign(to node: NodeID) -> [Call] {
        (assigning.insert(node).inserted ? [Call(.assign, node)] : []) + collect(from: node)
    }

    private mutating func collect(from node: NodeID) -> [Call] {
        collecting.insert(node).inserted ? [Call(.collect, node)] : []
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
    ///
    /// - Parameter acknowledged: the sequence number up to which the node may forget results.
    mutating func nextAssignment(for node: NodeID, acknowledged: UInt64) -> Assignment? {
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
        next.acknowledged = acknowledged
        return next
    }

    /// A call failed that may have arrived all the same: asks what came of it.
    mutating func assignmentIsUncertain(for node: NodeID) -> [Call] { join(node) }

    // MARK: - Collecting

    /// What to ask a node for next; `nil` where nothing is to be expected from it, which ends the asking.
    ///
    /// - Parameters:
    ///   - running: attempts that occupy a slot there, as far as is known.
    ///   - delivery: what it has delivered.
    mutating func nextCollection(
        from node: NodeID, isPresent: Bool, running: Int, _ delivery: Delivery
    ) -> CollectRequest? {
        let isFirst = unasked.contains(node)
        guard isPresent, isFirst || demands.wanted(on: node) > 0 || running > 0 || !delivery.isSettled
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
