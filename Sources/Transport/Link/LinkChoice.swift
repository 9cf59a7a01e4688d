/// Which of two links between the same nodes is kept, decided alike on both sides without asking: the one dialled by
/// the smaller node id. Of two dialled by the same node the newer is kept, because a node dials again only when it
/// has given the older one up.
package enum LinkChoice {
    package static func newReplacesOld(own: NodeID, peer: NodeID, oldDialledHere: Bool, newDialledHere: Bool) -> Bool {
        if oldDialledHere == newDialledHere { return true }
        return newDialledHere == (own < peer)
    }
}
