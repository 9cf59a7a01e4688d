/// Which of two links between the same nodes is kept, decided alike on both sides without asking: the one dialled by the smaller
/// node id. If the same node dialled both, the link with the higher number is kept, because a node dials again when it has given up
/// the older link. Two dials at the same time may come up in a different order on the two sides.
package enum LinkChoice {
    /// The facts about a link that the choice needs.
    package struct Candidate {
        package var dialledHere: Bool
        /// The `dial` of the hello of the side that dialled.
        package var dial: UInt64

        package init(dialledHere: Bool, dial: UInt64) {
            self.dialledHere = dialledHere
            self.dial = dial
        }
    }

    package static func newReplacesOld(own: NodeID, peer: NodeID, old: Candidate, new: Candidate) -> Bool {
        if old.dialledHere == new.dialledHere { return new.dial > old.dial }
        return new.dialledHere == (own < peer)
    }
}
