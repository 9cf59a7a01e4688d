/// How long jobs that have ended are kept, with their results.
package struct JobRetention: Hashable, Sendable {
    package var count = 1000
    package var age = Duration.seconds(30 * 86_400)

    package init() {}
}

/// Room for what is stored, as a value: which jobs that have ended are to be deleted because they are old, too many, or in the way
/// of newer results, and when to look again. Times count from the coordinator's start.
struct StorageRoom {
    private(set) var retention: JobRetention
    /// What the journal held last, and may hold; `nil` for no limit.
    private(set) var journal: JournalRoom?
    /// Why nothing more may be stored; `nil` where something may.
    private(set) var limitReason: String?
    /// When a job will have ended long enough ago to be deleted.
    private(set) var due: Duration?
    /// The entry that deletes a job to make room: what follows from it is not known before it is stored.
    private var deletion: UInt64 = 0

    /// Jobs that are looked at for the time of the next deletion where too many have ended.
    private static let lookLimit = 16

    init(_ retention: JobRetention) { self.retention = retention }

    /// Why nothing more fits on the disk; `nil` where it does. Where only the operator's limit is reached, jobs wait for room.
    var diskFault: String? { journal?.isOfDisk == true ? limitReason : nil }

    /// Keeps what `retention` says from now on.
    mutating func retain(_ retention: JobRetention) { self.retention = retention }

    /// Takes note of what the journal holds now; `nil` where there is no limit.
    mutating func measure(_ journal: JournalRoom?) { self.journal = journal }

    /// Another limit from now on; without effect where there is none.
    ///
    /// - Returns: whether there is one.
    mutating func limit(_ bytes: Int) -> Bool {
        guard let held = journal?.held else { return false }
        journal = JournalRoom(held: held, limit: bytes)
        return true
    }

    /// The job to be deleted now because the journal holds more than it may: the one that ended first of those that nobody
    /// fetches. Where there is none, `limitReason` says why tasks wait until there is, or until somebody deletes jobs or
    /// raises the limit.
    ///
    /// One goes after the other: none while the deletion of the one before is not `stored`.
    mutating func nextDeletion(among ended: EndedJobs, stored: UInt64, now: Duration) -> JobID? {
        (limitReason, due) = (nil, nil)
        guard let journal, journal.isFull, stored >= deletion else { return nil }
        if let oldest = ended.oldest(now: now) { return oldest }
        due = ended.nextFree(among: .max)
        limitReason = journal.reason
        return nil
    }

    /// The job that was in the way is deleted by this entry.
    mutating func awaitDeletion(by entry: UInt64) { deletion = entry }

    /// Jobs to be deleted because they ended long ago, and those that ended first where there are too many.
    func surplus(among ended: EndedJobs, now: Duration) -> [JobID] { ended.surplus(retention, now: now) }

    /// Sets when those are looked at again that somebody may still fetch. To be called when the surplus is deleted.
    mutating func planNextLook(at ended: EndedJobs) {
        guard limitReason == nil else { return }
        let surplus = ended.count - retention.count
        due = surplus > 0 ? ended.nextFree(among: min(surplus, StorageRoom.lookLimit)) : nil
    }
}
