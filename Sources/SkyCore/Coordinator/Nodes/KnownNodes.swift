import DequeModule
import Transport

/// What a coordinator remembers of nodes: their names for whoever reads of them, how far their results have been taken, and
/// who is not to be believed. Every start of a node is a new one, so that what is remembered of those that are gone ends.
struct KnownNodes {
    private(set) var present: Set<NodeID> = []
    private(set) var deliveries: [NodeID: Delivery] = [:]
    private var names: [NodeID: String] = [:]
    /// Those that left, the first ones first; may name some that are back.
    private var gone: Deque<(node: NodeID, at: Duration)> = []
    /// Members that have sent what makes no sense, which ends with their membership.
    private(set) var distrusted: Set<NodeID> = []
    /// Why a member does not listen to this coordinator.
    private(set) var refusals: [NodeID: String] = [:]

    /// A node keeps results that nobody fetches for ten minutes (`WorkBook.retention`). What was taken of them must be known
    /// for longer, so that nothing that it still has is taken for new.
    static let memory = WorkBook.retention * 2
    /// Nodes that are gone and remembered.
    static let goneLimit = 1024

    init(own node: NodeID, name: String) { names[node] = name }

    func name(of node: NodeID) -> String? { names[node] }

    /// - Returns: whether it was not there before.
    mutating func joined(_ node: NodeID, name: String, now: Duration) -> Bool {
        forget(now: now)
        guard !distrusted.contains(node) else { return false }
        names[node] = name
        return present.insert(node).inserted
    }

    /// - Returns: whether it was there.
    mutating func lost(_ node: NodeID, now: Duration) -> Bool {
        distrusted.remove(node)
        refusals[node] = nil
        return leave(node, now: now)
    }

    /// It has sent what makes no sense: it is not used any more, as if it were gone.
    mutating func distrust(_ node: NodeID, now: Duration) -> Bool {
        distrusted.insert(node)
        return leave(node, now: now)
    }

    private mutating func leave(_ node: NodeID, now: Duration) -> Bool {
        guard present.remove(node) != nil else { return false }
        // A node that has nothing of ours needs no memory of what it had: it keeps only what nobody has acknowledged.
        if deliveries[node]?.isSettled == true { deliveries[node] = nil }
        gone.append((node, now))
        forget(now: now)
        return true
    }

    /// - Parameter reason: `nil` where it listens.
    /// - Returns: whether that is new.
    mutating func refuses(_ node: NodeID, _ reason: String?) -> Bool {
        guard refusals[node] != reason else { return false }
        refusals[node] = reason
        return true
    }

    mutating func deliver<Result>(_ node: NodeID, _ change: (inout Delivery) -> Result) -> Result {
        change(&deliveries[node, default: Delivery()])
    }

    /// What has been stored rests on this entry. Calls `body` with those nodes that should hear of it.
    mutating func stored(_ entry: UInt64, _ body: (NodeID) -> Void) {
        for node in Array(deliveries.keys) {
            deliveries[node]?.stored(entry)
            guard let unsaid = deliveries[node]?.unsaid, unsaid > KnownNodes.unsaidLimit else { continue }
            deliveries[node]?.unsaid = 0
            body(node)
        }
    }

    /// Bytes of stored results after which a node is told although nothing else is to be said to it.
    private static let unsaidLimit = 8 << 20

    private mutating func forget(now: Duration) {
        while let first = gone.first, gone.count > KnownNodes.goneLimit || first.at + KnownNodes.memory <= now {
            gone.removeFirst()
            guard !present.contains(first.node), !gone.contains(where: { $0.node == first.node }) else { continue }
            names[first.node] = nil
            deliveries[first.node] = nil
        }
    }
}
