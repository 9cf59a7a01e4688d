/// One coordinator's right to some slots of one node, as of one moment.
///
/// Leases travel in replies and in pushed changes, which may overtake one another; the one with the newer `epoch` is
/// true.
package struct Lease: Hashable, Codable, Sendable {
    /// Who may use the slots.
    package var coordinator: CoordinatorID
    /// Increases with every change of `slots`, over the whole life of the node, also across an expiry and a return.
    package var epoch: UInt64
    /// How many attempts the coordinator may have running there at one time, those already running included.
    package var slots: Int

    package init(coordinator: CoordinatorID, epoch: UInt64, slots: Int) {
        self.coordinator = coordinator
        self.epoch = epoch
        self.slots = slots
    }
}
