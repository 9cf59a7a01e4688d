import Base
import DequeModule
import Transport

/// What a coordinator remembers of nodes: their names for people, how far their results have been received, and which nodes it does
/// not believe. A node gets a new id at every start, so the memory of nodes that are gone ends.
struct KnownNodes {
    private(set) var present: Set<NodeID> = []
    private(set) var deliveries: [NodeID: Delivery] = [:]
    private var names: [NodeID: String] = [:]
    /// What the members measure by, as far as they say so.
    private var arithmetics: [NodeID: Arithmetic] = [:]
    /// The nodes that left, the earliest first. It may name nodes that are back.
    private var gone: Deque<(node: NodeID, at: Duration)> = []
    /// Members that have sent data that makes no sense. A node is removed from this set when its membership ends.
    private(set) var distrusted: Set<NodeID> = []
    /// The reasons why members refuse this coordinator.
    private(set) var refusals: [NodeID: String] = [:]

    /// How long nodes that are gone are remembered. A node keeps results that nobody fetches for ten minutes
    /// (`WorkBook.retention`). The coordinator must remember for longer which of them it has received, so that it does not take an
    /// old result for a new one.
    static let memory = WorkBook.retention * 2
    /// Largest number of nodes that are gone and remembered.
    static let goneLimit = 1024

    init(own node: NodeID, name: String) { names[node] = name }

    func name(of node: NodeID) -> String? { names[node] }

    func arithmetic(of node: NodeID) -> Arithmetic? { arithmetics[node] }

    /// - Returns: whether it was not there before.
    mutating func joined(_ node: NodeID, name: String, arithmetic: Arithmetic? = nil, now: Duration) -> Bool {
        forget(now: now)
        guard !distrusted.contains(node) else { return false }
        names[node] = name
        arithmetics[node] = arithmetic
        return present.insert(node).inserted
    }

    /// - Returns: whether it was there.
    mutating func lost(_ node: NodeID, now: Duration) -> Bool {
        distrusted.remove(node)
        refusals[node] = nil
        return leave(node, now: now)
    }

    /// The node has sent data that makes no sense. It is not used any more, as if it were gone.
    mutating func distrust(_ node: NodeID, now: Duration) -> Bool {
        distrusted.insert(node)
        return leave(node, now: now)
    }

    private mutating func leave(_ node: NodeID, now: Duration) -> Bool {
        guard present.remove(node) != nil else { return false }
        arithmetics[node] = nil
        // A node keeps only results that are not acknowledged. If all are, it has nothing of ours, and its deliveries need not be
        // remembered.
        if deliveries[node]?.isSettled == true { deliveries[node] = nil }
        gone.append((node, now))
        forget(now: now)
        return true
    }

    /// - Parameter reason: why the node refuses this coordinator; `nil` where it does not.
    /// - Returns: whether that is new.
    mutating func refuses(_ node: NodeID, _ reason: String?) -> Bool {
        guard refusals[node] != reason else { return false }
        refusals[node] = reason
        return true
    }

    mutating func deliver<Result>(_ node: NodeID, _ change: (inout Delivery) -> Result) -> Result {
        change(&deliveries[node, default: Delivery()])
    }

    /// Everything up to this entry is stored. Calls `body` with the nodes that should be sent an acknowledgement.
    mutating func stored(_ entry: UInt64, _ body: (NodeID) -> Void) {
        for node in Array(deliveries.keys) {
            deliveries[node]?.stored(entry)
            guard let unconfirmedBytes = deliveries[node]?.unconfirmedBytes,
                unconfirmedBytes > KnownNodes.unconfirmedLimit
            else { continue }
            deliveries[node]?.unconfirmedBytes = 0
            body(node)
        }
    }

    /// Bytes of results after which a node is sent an acknowledgement although there is nothing else to send to it.
    private static let unconfirmedLimit = 8 << 20

    private mutating func forget(now: Duration) {
        while let first = gone.first, gone.count > KnownNodes.goneLimit || first.at + KnownNodes.memory <= now {
            gone.removeFirst()
            guard !present.contains(first.node), !gone.contains(where: { $0.node == first.node }) else { continue }
            names[first.node] = nil
            deliveries[first.node] = nil
        }
    }
}
