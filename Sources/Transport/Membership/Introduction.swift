/// One member, as it is named to another.
struct Introduction: Codable, Equatable {
    /// How many members are named in one frame: with the longest host names they still fit its limit.
    static let limit = 128
    /// How many members are named that are known by their beacons, which the newcomer most likely hears too.
    static let beaconLimit = 8

    var node: NodeID
    var address: NodeAddress

    /// The members to name to a newcomer. Where there is multicast, each node names a few, chosen by chance: a hundred nodes that
    /// all named all others would spend more on that than on their links.
    ///
    /// - Parameter heard: the nodes whose beacons have been heard.
    static func choose(_ members: [Member], heard: Set<NodeID>, for newcomer: NodeID) -> [Introduction] {
        let others = members.filter { $0.node != newcomer && $0.address?.isScoped == false }
        let beacons = others.filter { heard.contains($0.node) }.shuffled().prefix(beaconLimit)
        return (others.filter { !heard.contains($0.node) } + beacons).prefix(limit).compactMap { member in
            member.address.map { Introduction(node: member.node, address: $0) }
        }
    }
}
