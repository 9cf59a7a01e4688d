@testable import Transport

/// A machine of the simulated network, and its node while one runs.
struct SimulatedHost {
    let address: NodeAddress
    /// The node id, which changes with every start.
    var node: NodeID
    /// The node ids of earlier runs.
    var formerNodes: [NodeID] = []
    var isUp = false
    var schedule: BeaconSchedule
    var plan: DialPlan
    var membership = Membership()
    /// How many links are up on this side.
    var linkCount = 0
    /// Those of them to earlier runs of a machine to which there is a newer one.
    var oldLinks: [NodeID: SimulatedLink.Place] = [:]
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
