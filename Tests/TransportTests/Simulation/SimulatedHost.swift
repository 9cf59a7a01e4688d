@testable import Transport

/// A machine of the simulated network, and its node while one runs.
struct SimulatedHost {
    let address: NodeAddress
    /// Changes with every start.
    var node: NodeID
    /// Those of earlier runs.
    var formerNodes: [NodeID] = []
    var isUp = false
    var schedule: BeaconSchedule
    var plan: DialPlan
    var membership = Membership()
    /// Links that are up on this side, by the peer's node: index of the link and this host's side of it.
    var links: [NodeID: (link: Int, side: Int)] = [:]
    /// When the next beacon is due; an earlier event of it is out of date.
    var beaconDue = Duration.zero
    /// When all links are looked at next.
    var lookDue = Duration.zero
    var dials: UInt64 = 0

    init(address: NodeAddress, node: NodeID, seed: UInt64) {
        self.address = address
        self.node = node
        schedule = BeaconSchedule(generator: SeededGenerator(seed: seed))
        plan = DialPlan(own: node, generator: SeededGenerator(seed: ~seed))
    }
}
