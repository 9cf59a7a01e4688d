import Transport

extension Journal {
    /// That the coordinator speaks from a node; `nil` where its id does not follow from the journal's secret, because an earlier
    /// version made it.
    func proof(from node: NodeID) -> IdentityProof? {
        IdentityKey.of(incarnation.coordinator, secret: secret)?.proof(from: node, "\(incarnation.generation)")
    }
}
