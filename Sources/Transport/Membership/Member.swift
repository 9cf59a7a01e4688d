/// A node that this node has a link to.
public struct Member: Hashable, Codable, Sendable {
    public enum State: String, Codable, Sendable {
        case alive
        /// It has been silent for longer than pings explain, and is not yet given up.
        case suspect
    }

    /// How this node came to know of another.
    public enum Found: String, Codable, Sendable {
        /// The operator named its address.
        case join
        /// It was heard by multicast.
        case beacon
        /// Another member named it.
        case introduction
        /// It dialled, and nothing had been heard of it before.
        case incoming
    }

    public var node: NodeID
    /// The name for people. Two members may have the same name; their ids tell them apart.
    public var name: String
    /// The version of its program, as the node says; empty where it does not say.
    public var version: String
    /// What the numbers of its results depend on; `nil` where it does not say. It is compared as a whole.
    public var arithmetic: String?
    /// Where it can be reached, by its own word or as seen from here.
    public var address: NodeAddress?
    public var state: State
    /// Whether it takes no new work.
    public var isDraining: Bool
    public var found: Found
    /// When the link came up, since this node's start.
    public var since: Duration

    package init(
        node: NodeID, name: String, version: String = "", arithmetic: String? = nil, address: NodeAddress?,
        state: State = .alive,
        isDraining: Bool = false, found: Found = .incoming, since: Duration
    ) {
        self.node = node
        self.name = name
        self.version = version
        self.arithmetic = arithmetic
        self.address = address
        self.state = state
        self.isDraining = isDraining
        self.found = found
        self.since = since
    }
}

/// What happens to the membership, in order.
public enum MembershipEvent: Hashable, Codable, Sendable {
    case joined(Member)
    case suspect(NodeID)
    /// A suspected node was heard again, or one that had been lost has a link again: nothing was restarted there.
    case back(Member)
    /// The link ended without a goodbye.
    case lost(NodeID)
    /// The node said goodbye.
    case left(NodeID)
    /// The node takes no new work any more, or takes it again.
    case draining(NodeID, Bool)
}
