/// What of a replica survives the end of its process.
struct ReplicaRecord: Hashable, Codable, Sendable {
    /// The highest term that this replica has promised, or in which it was sent something.
    var promised: UInt64 = 0
    /// Who has that promise, or has won that term and was heard in it.
    var promisedTo: ReplicaID?
    /// How far the copy is; `nil` if there is none that is whole.
    var position: LogPosition?
    /// The members, as the copy has them.
    var set = ReplicaSet(members: [])
}

extension ReplicaRecord {
    /// A candidate is promised a later term, or the primary of a term is heard.
    ///
    /// Whoever has lost an election takes back what it had promised itself: otherwise it would take the winner's batches of that term
    /// for its own after a restart, and be a second primary.
    mutating func promise(_ term: UInt64, to replica: ReplicaID) {
        guard term >= promised else { return }
        (promised, promisedTo) = (term, replica)
    }
}
