/// What discovery asks the system and tells it.
extension ClusterSystem: DiscoveryOwner {
    func report(_ report: DiscoveryReport) {
        switch report {
        case .heard(let node, let addresses): heardBeacon(of: node, at: addresses)
        case .suggested(let node, let addresses): suggest(addresses, node: node, by: .beacon)
        case .left(let node, let name): heardGoodbye(of: node, named: name)
        case .lost(let address): lost(address: address)
        }
    }

    /// Notes that a node was heard by multicast, and said at which addresses it can be reached now. That speaks for a silent link
    /// to one of these addresses. Nothing more is to be expected of a link to an address that the node no longer has.
    private func heardBeacon(of node: NodeID, at addresses: [NodeAddress]) {
        guard let link = link(to: node), let address = address(of: link), addresses.contains(address) else { return }
        link.confirm(at: now)
    }

    /// Doubts the links from an address that this machine no longer has: they hardly work.
    private func lost(address: IPAddress) {
        for link in state.withLockedValue({ Array($0.links.current.values) }) where link.localAddress == address {
            link.doubt()
        }
    }

    /// Notes that a beacon said that a node leaves. Where there is a link, the link says it too, and later than its last answer.
    private func heardGoodbye(of node: NodeID, named name: String) {
        let dialler = state.withLockedValue { state -> Dialler? in
            guard state.links.current[node] == nil else { return nil }
            feed.heardGoodbye(of: Member(node: node, name: name, address: nil, found: .beacon, since: now))
            return state.dialler
        }
        dialler?.left(node)
    }
}
