import Base
import Transport

// MARK: - Events of nodes

extension CoordinatorCore {
    /// Begins the calls and passes the events to the scheduler.
    private mutating func apply(_ consequence: NodeDispatch.Consequence) {
        begin(consequence.calls)
        for event in consequence.events { schedule(event) }
    }

    /// A node can be given work.
    ///
    /// - Parameter arithmetic: what the node measures by; `nil` where it does not say.
    mutating func joined(
        _ node: NodeID, name: String, arithmetic: Arithmetic? = JobKinds.arithmetic, isDraining: Bool
    ) {
        apply(dispatch.join(node, name: name, arithmetic: arithmetic, isDraining: isDraining, now: now))
    }

    /// A node is drained, or takes new work again.
    mutating func draining(_ node: NodeID, _ isDraining: Bool) { schedule(.nodeDraining(node, isDraining)) }

    /// A node is gone, or the link to it is lost.
    mutating func lost(_ node: NodeID) { apply(dispatch.lose(node, now: now)) }

    /// A node has answered a demand.
    mutating func reserved(_ lease: Lease, on node: NodeID) { apply(dispatch.reserved(lease, on: node)) }

    /// A node has delivered its results for this coordinator. Each result counts once, however often it arrives.
    mutating func collected(_ reply: CollectReply, _ request: CollectRequest, from node: NodeID) {
        let isLeaseLost = dispatch.collect(reply, request, from: node)
        for result in reply.results where dispatch.receive(result, from: node) { complete(result, on: node) }
        dispatch.markResults(of: node, dependingOn: writeAhead.lastEntry, stored: writeAhead.lastStored)
        if let attempts = reply.attempts { adopt(attempts, reply.receipts, on: node) }
        if isLeaseLost { schedule(.leaseLost(node)) }
        _ = dispatch.refuse(node, nil)
        if let lease = reply.lease { apply(dispatch.leased(lease, on: node)) }
    }

    /// Adopts the attempts that run on a node. This coordinator may not know them, for example after a restart.
    ///
    /// - Parameter proofs: the receipts, one for each attempt. An attempt without a receipt counts only if it is known to run
    ///   there.
    private mutating func adopt(_ attempts: [AttemptID], _ proofs: [UInt64]?, on node: NodeID) {
        for (index, attempt) in attempts.enumerated() {
            let receipt = proofs.flatMap { $0.indices.contains(index) ? $0[index] : nil }
            guard dispatch.isProven(attempt, on: node, receipt, jobs.question(of: attempt)) else { continue }
            schedule(.adopted(attempt, on: node))
        }
    }

    /// A demand may not have reached a node.
    mutating func reservationFailed(on node: NodeID, _ fault: NodeFault?) {
        dispatch.reservationFailed(on: node)
        judge(fault, of: node)
    }

    /// Attempts could not be sent to a node.
    mutating func assignmentFailed(
        _ attempts: [AttemptID], on node: NodeID, _ failure: AttemptFailure, _ fault: NodeFault?
    ) {
        apply(dispatch.assignmentFailed(attempts, on: node, failure))
        judge(fault, of: node)
    }

    /// A node could not be asked for what it has.
    mutating func collectionFailed(from node: NodeID, _ fault: NodeFault?) { judge(fault, of: node) }

    private mutating func judge(_ fault: NodeFault?, of node: NodeID) {
        switch fault {
        case .refuses(let reason):
            if dispatch.refuse(node, reason) { outbox.append(.refused(by: node, reason)) }
        case .invalidReply(let reason):
            guard let consequence = dispatch.distrust(node, now: now) else { return }
            apply(consequence)
            outbox.append(.distrusted(node, reason))
        case nil: break
        }
    }

    // MARK: - The next calls to nodes

    /// The demand to send to a node now. `nil` means that the node knows it already, which ends the sending.
    mutating func nextReservation(for node: NodeID) -> ReserveRequest? { dispatch.nextReservation(for: node) }

    /// The assignment to send to a node now. `nil` means that there is none, which ends the sending.
    mutating func nextAssignment(for node: NodeID) -> Assignment? { dispatch.nextAssignment(for: node) }

    /// The next collection to ask a node for. `nil` means that nothing more is expected from it, which ends the collecting.
    mutating func nextCollection(from node: NodeID) -> CollectRequest? { dispatch.nextCollection(from: node) }
}
