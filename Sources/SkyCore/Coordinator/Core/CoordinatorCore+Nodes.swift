import Base
import Transport

// MARK: - What nodes do

extension CoordinatorCore {
    /// What a node has delivered. Each result counts once, however often it arrives.
    mutating func collected(_ results: [AttemptResult], from node: NodeID) {
        for result in results where nodes.deliver(node, { $0.receive(result.sequence) }) {
            nodes.deliver(node) { $0.unsaid += result.byteCount }
            ended(result, on: node)
        }
        let (decided, stored) = (lastEntry, lastStored)
        nodes.deliver(node) { delivery in
            delivery.rests(on: decided)
            delivery.stored(stored)
        }
    }

    /// A node has heard up to where its results are stored.
    mutating func heard(_ sequence: UInt64, by node: NodeID) { nodes.deliver(node) { $0.heard(sequence) } }

    /// Whether a node is a member, as far as is known here.
    func isPresent(_ node: NodeID) -> Bool { nodes.present.contains(node) }

    /// What runs on a node that nobody here may know of.
    ///
    /// - Parameter proofs: their receipts, one for each; of those that have none, only what is known to run there is believed.
    mutating func found(_ attempts: [AttemptID], _ proofs: [UInt64]?, on node: NodeID) {
        for (index, attempt) in attempts.enumerated() {
            let receipt = proofs.flatMap { $0.indices.contains(index) ? $0[index] : nil }
            guard isProven(attempt, on: node, receipt) else { continue }
            handle(.adopted(attempt, on: node))
        }
    }

    /// Whether an attempt was sent to that node in this life or an earlier one.
    func isProven(_ attempt: AttemptID, on node: NodeID, _ receipt: UInt64?) -> Bool {
        guard let receipt, attempt.generation <= incarnation.generation else { return false }
        if let since = jobs[attempt.job]?.stored.resultsSince, attempt.generation < since { return false }
        return receipts.receipt(for: attempt, on: node) == receipt
    }

    /// Attempts that could not be sent.
    mutating func undeliverable(_ attempts: [AttemptID], to node: NodeID, _ failure: AttemptFailure) {
        for attempt in attempts { handle(.failed(attempt, on: node, failure)) }
    }

    mutating func joined(_ node: NodeID, name: String, version: String = SkyNetVersion.current, isDraining: Bool) {
        if nodes.joined(node, name: name, now: now) {
            handle(.nodeJoined(node, name: name, measuresAlike: SkyNetVersion.measuresAlike(version)))
        }
        handle(.nodeDraining(node, isDraining))
    }

    mutating func draining(_ node: NodeID, _ isDraining: Bool) { handle(.nodeDraining(node, isDraining)) }

    mutating func lost(_ node: NodeID) {
        if nodes.lost(node, now: now) { handle(.nodeLost(node)) }
    }

    /// A node has answered what makes no sense. Nothing that it says is used from now on: its tasks are tried elsewhere.
    ///
    /// - Returns: whether that is new.
    mutating func distrust(_ node: NodeID) -> Bool {
        guard nodes.distrust(node, now: now) else { return false }
        handle(.nodeLost(node))
        return true
    }

    /// A node does not listen to this coordinator, or does again (`nil`).
    ///
    /// - Returns: whether that is new.
    mutating func refuses(_ node: NodeID, _ reason: String?) -> Bool { nodes.refuses(node, reason) }

    /// The feed of members begins (again): those that left unheard are gone.
    func unheard(_ members: Set<NodeID>, besides own: NodeID) -> Set<NodeID> {
        nodes.present.union(nodes.distrusted).subtracting(members).subtracting([own])
    }
}
