@testable import SkyCore

extension ReplicaSet {
    /// Whether a disk may be lost: a majority of the members is left, and one of these has what was published.
    ///
    /// - Parameters:
    ///   - isForgetting: whether the disk is to come back as it was earlier.
    ///   - isWhole: whether a member's disk is what that member last wrote.
    ///   - hasPublished: whether a member has all that was published.
    func survives(
        losing replica: ReplicaID, isForgetting: Bool, isWhole: (ReplicaID) -> Bool, hasPublished: (ReplicaID) -> Bool
    ) -> Bool {
        guard everyone.contains(replica) else { return true }
        let left = everyone.filter { $0 != replica && isWhole($0) }
        let holders = left.filter(hasPublished)
        return isQuorum(Set(isForgetting ? holders : left)) && !holders.isEmpty
    }
}
