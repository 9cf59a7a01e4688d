/// A node that this node has a link to.
public struct Member: Hashable, Codable, Sendable {
    public enum State: String, Codable, Sendable {
        case alive
        /// Silent for longer than pings explain; not yet given up.
        case suspect
    }

    public var node: NodeID
    public var name: String
    /// Where it can be reached, by its own word or as seen from here.
    public var address: NodeAddress?
    public var state: State
    /// When the link came up, since this node's start.
    public var since: Duration

    package init(node: NodeID, name: String, address: NodeAddress?, state: State, since: Duration) {
        self.node = node
        self.name = name
        self.address = address
        self.state = state
        self.since = since
    }
}

/// What happens to the membership, in order.
public enum MembershipEvent: Hashable, Sendable {
    case joined(Member)
    case suspect(NodeID)
    /// A suspected node was heard again.
    case revived(NodeID)
    /// The link ended without a goodbye.
    case lost(NodeID)
    /// The node said goodbye.
    case left(NodeID)
}
