/// One member, as told to another.
struct Introduction: Codable, Equatable {
    /// Most members told of in one frame: with the longest host names they still fit its cap.
    static let limit = 128
    /// Most members told of that are known by their beacons, which the newcomer most likely hears, too.
    static let beaconLimit = 8

    var node: NodeID
    var address: NodeAddress

    /// Whom to tell a newcomer of. Where there is multicast, everybody tells of a few by chance: a hundred nodes that all
    /// told of all would spend more on that than on their links.
    ///
    /// - Parameter heard: those whose beacons have been heard.
    static func choose(_ members: [Member], heard: Set<NodeID>, for newcomer: NodeID) -> [Introduction] {
        let others = members.filter { $0.node != newcomer && $0.address?.isScoped == false }
        let beacons = others.filter { heard.contains($0.node) }.shuffled().prefix(beaconLimit)
        return (others.filter { !heard.contains($0.node) } + beacons).prefix(limit).compactMap { member in
            member.address.map { Introduction(node: member.node, address: $0) }
        }
    }
}
