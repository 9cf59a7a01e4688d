/// Which of two links between the same nodes is kept, decided alike on both sides without asking: the one dialled by
/// the smaller node id. Of two dialled by the same node the one that it numbered higher is kept, because a node dials
/// again when it has given the older one up; two dials at once may come up here and there in different order.
package enum LinkChoice {
    /// A link, as far as the choice goes.
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
