/// The links of a node, as a value: one to each peer, and the links that it has replaced and that still have calls under way.
struct PeerLinks<Link: AnyObject> {
    /// The link on which calls to a peer are made.
    private(set) var current: [NodeID: Link] = [:]
    private var replaced: [Link] = []

    /// Every link whose connection is up.
    var all: [Link] { current.values + replaced }

    /// Takes a new link to a peer.
    ///
    /// - Returns: the link that the new one replaces. It has to give way.
    mutating func add(_ link: Link, to node: NodeID) -> Link? {
        let old = current.updateValue(link, forKey: node)
        if let old { replaced.append(old) }
        return old
    }

    /// Whether it is the link on which calls to the peer are made. A link that was replaced says nothing about whether its peer
    /// lives.
    func isCurrent(_ link: Link, to node: NodeID) -> Bool { current[node] === link }

    /// A link's connection has ended.
    ///
    /// - Returns: whether there is no link to the peer now.
    mutating func remove(_ link: Link, to node: NodeID) -> Bool {
        replaced.removeAll { $0 === link }
        guard isCurrent(link, to: node) else { return false }
        current[node] = nil
        return true
    }
}

extension PeerLinks: Sendable where Link: Sendable {}
