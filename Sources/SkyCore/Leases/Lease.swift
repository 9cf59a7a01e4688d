/// One coordinator's right to some slots of one node, as of one moment.
///
/// Leases are sent in replies and in changes, which may overtake one another. The one with the newer fencing token is valid.
package struct Lease: Hashable, Codable, Sendable {
    /// The coordinator that may use the slots.
    package var coordinator: CoordinatorID
    /// It increases with every change of `slots` or `hasNoSlots`, over the whole incarnation of the node, also when a
    /// lease expires and the coordinator returns.
    package var fencingToken: UInt64
    /// How many attempts the coordinator may have running there at one time, including those that run already.
    package var slots: Int
    /// `true` where the node has no slots at all, for anybody: it keeps copies and takes jobs. Otherwise `nil`.
    package var hasNoSlots: Bool?

    package init(coordinator: CoordinatorID, fencingToken: UInt64, slots: Int, hasNoSlots: Bool? = nil) {
        self.coordinator = coordinator
        self.fencingToken = fencingToken
        self.slots = slots
        self.hasNoSlots = hasNoSlots
    }

    private enum CodingKeys: String, CodingKey {
        case coordinator
        case fencingToken = "epoch"
        case slots, hasNoSlots
    }
}
