import Transport

/// The calls to nodes that are due, as a value. The owner makes them, one of each kind to a node at a time, and reports how they
/// went.
///
/// - `reserve` carries the newest demand (`DemandBook`).
/// - `assign` carries all attempts and stops that have gathered, so that a stop never overtakes its attempt.
/// - `collect` goes on as long as anything is expected from a node. It brings results and the lease, and renews the lease.
struct NodeCalls {
    enum Kind {
        case reserve, assign, collect
    }

    /// A loop of calls of one kind to one node, which goes on until there is nothing more to send or ask for.
    struct Call: Hashable {
        var kind: Kind
        var node: NodeID

        init(_ kind: Kind, _ node: NodeID) { (self.kind, self.node) = (kind, node) }
    }

    private(set) var demands = DemandBook()
    /// For how many people the coordinator works.
    var people = 1
    /// For how many each node was told.
    private var publishedPeople: [NodeID: Int] = [:]
    private let incarnation: CoordinatorIncarnation
    /// The next assignment of each node.
    private var outgoing: [NodeID: Assignment] = [:]
    private var assigning: Set<NodeID> = []
    private var collecting: Set<NodeID> = []
    /// Nodes that have not reported yet which of our attempts and results they have.
    private var unasked: Set<NodeID> = []
    /// The fencing token of the newest lease that each node has reported.
    private var fencingTokens: [NodeID: UInt64] = [:]

    /// Largest number of attempts in one message: many small ones, or a few that carry a background with them.
    private static let assignmentLimit = (small: 256, large: 8)

    init(incarnation: CoordinatorIncarnation) {
        self.incarnation = incarnation
    }

    // MARK: - What nodes are to do

    /// Sets the number of slots that are demanded of a node.
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

    /// A node should learn soon which results it may forget.
    mutating func acknowledge(_ node: NodeID) -> [Call] {
        if outgoing[node] == nil { outgoing[node] = Assignment(incarnation: incarnation) }
        return assign(to: node)
    }

    /// There is a link to a node, or there is one again. The node is asked which of our attempts and results it has.
    mutating func join(_ node: NodeID) -> [Call] {
        unasked.insert(node)
        return collect(from: node)
    }

    /// A node is gone. Its next assignment is dropped.
    mutating func lose(_ node: NodeID) {
        demands.nodeLost(node)
        outgoing[node] = nil
        publishedPeople[node] = nil
        fencingTokens[node] = nil
        unasked.remove(node)
    }

    private mutating func assign(to node: NodeID) -> [Call] {
        (assigning.insert(node).inserted ? [Call(.assign, node)] : []) + collect(from: node)
    }

    private mutating func collect(from node: NodeID) -> [Call] {
        collecting.insert(node).inserted ? [Call(.collect, node)] : []
    }

    // MARK: - Reserving

    /// The demand to send to a node now. `nil` means that the node knows it already, which ends the sending.
    mutating func nextReservation(for node: NodeID) -> ReserveRequest? {
        guard let wanted = demands.next(for: node) else { return nil }
        publishedPeople[node] = people
        return ReserveRequest(
            incarnation: incarnation, wanted: wanted, people: people > 1 ? min(people, LeaseBook.peopleLimit) : nil)
    }

    /// Tells a node for how many people the coordinator works, if it believes something else and lends fewer slots than are demanded.
    /// Otherwise it makes no difference, and the next demand will tell.
    mutating func announcePeople(to node: NodeID, lending slots: Int) -> [Call] {
        guard publishedPeople[node] != people, slots < demands.requested(on: node), demands.demandAgain(on: node)
        else { return [] }
        return [Call(.reserve, node)]
    }

    /// The call may not have arrived.
    mutating func reservationFailed(for node: NodeID) { demands.failed(on: node) }

    // MARK: - Assigning

    /// The assignment to send to a node now. `nil` means that there is none, which ends the sending.
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
            // The stops go with the last attempts, because a stop must not overtake its attempt.
            (rest.attempts, rest.stop) = (Array(next.attempts[limit...]), next.stop)
            next.attempts.removeSubrange(limit...)
            next.stop = []
            outgoing[node] = rest
        }
        next.acknowledged = acknowledged
        return next
    }

    /// A call has failed, but it may have arrived. The node is asked what came of it.
    mutating func assignmentIsUncertain(for node: NodeID) -> [Call] { join(node) }

    // MARK: - Collecting

    /// The next collection to ask a node for. `nil` means that nothing more is expected from it, which ends the collecting.
    ///
    /// - Parameters:
    ///   - running: the number of attempts that occupy a slot there, as far as is known.
    ///   - delivery: what the node has delivered.
    mutating func nextCollection(
        from node: NodeID, isPresent: Bool, running: Int, _ delivery: Delivery
    ) -> CollectRequest? {
        let isFirst = unasked.contains(node)
        guard isPresent, isFirst || demands.requested(on: node) > 0 || running > 0 || !delivery.isSettled
        else {
            collecting.remove(node)
            return nil
        }
        return CollectRequest(
            incarnation: incarnation, received: delivery.received, acknowledged: delivery.acknowledged,
            fencingToken: fencingTokens[node] ?? 0, isFirst: isFirst)
    }

    /// A collection has been answered.
    ///
    /// - Returns: whether the lease has been lost.
    mutating func collected(_ reply: CollectReply, _ request: CollectRequest, from node: NodeID) -> Bool {
        if request.isFirst { unasked.remove(node) }
        guard reply.lease == nil, fencingTokens[node] != nil else { return false }
        fencingTokens[node] = nil
        demands.leaseLost(on: node)
        return true
    }

    /// Whether the answer to a demand is new information. A known lease is new, too: the coordinator counted on fewer slots since
    /// it demanded less.
    mutating func reserved(_ lease: Lease, on node: NodeID) -> Bool {
        let isNew = leased(lease, on: node)
        return isNew || demands.isPublished(node)
    }

    /// Whether a lease is new information.
    mutating func leased(_ lease: Lease, on node: NodeID) -> Bool {
        guard lease.fencingToken != fencingTokens[node] else { return false }
        fencingTokens[node] = max(lease.fencingToken, fencingTokens[node] ?? 0)
        return true
    }
}
