/// Where a coordinator's entries are stored: in its journal, and on other nodes where there are copies.
struct EntryStore: Sendable {
    let journal: Journal
    /// `nil` where there are no copies.
    let replica: Replica?

    /// Stores entries, as `Journal.append` does. None at all only look at the disk.
    ///
    /// - Parameter isLocal: whether it is enough that this node has stored them, where there are copies.
    @discardableResult
    func append(
        _ entries: [JournalEntry], ran: Duration?, isLocal: Bool = false
    ) async throws(JournalError) -> Journal.Appended {
        guard let replica, !entries.isEmpty else { return try await journal.append(entries, ran: ran) }
        return try await replica.append(entries, ran: ran, isLocal: isLocal)
    }
}
