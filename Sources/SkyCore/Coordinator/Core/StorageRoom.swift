/// How long jobs that have ended are kept, with their results.
package struct JobRetention: Hashable, Sendable {
    package var count = 1000
    package var age = Duration.seconds(30 * 86_400)

    package init() {}
}

/// Decides, as a value, which ended jobs are deleted because they are old, too many, or take the room of newer results, and when to
/// look again. Times count from the coordinator's start.
struct StorageRoom {
    private(set) var retention: JobRetention
    /// What the journal held when it was measured last, and what it may hold; `nil` where there is no limit.
    private(set) var journal: JournalRoom?
    /// Why nothing more may be stored; `nil` where more may be stored.
    private(set) var limitReason: String?
    /// When a job will have ended long enough ago to be deleted.
    private(set) var due: Duration?
    /// The entry that deletes a job to make room. How much room that makes is not known before the entry is stored.
    private var deletion: UInt64 = 0

    /// How many jobs are examined for the time of the next deletion where too many have ended.
    private static let lookLimit = 16

    init(_ retention: JobRetention) { self.retention = retention }

    /// Why nothing more fits on the disk; `nil` where it does. It is also `nil` where only the operator's limit is reached, because
    /// jobs wait for room then.
    var diskFault: String? { journal?.isOfDisk == true ? limitReason : nil }

    /// Sets how many ended jobs are kept from now on, and for how long.
    mutating func retain(_ retention: JobRetention) { self.retention = retention }

    /// Records what the journal holds now; `nil` where there is no limit.
    mutating func measure(_ journal: JournalRoom?) { self.journal = journal }

    /// Sets another limit from now on. It has no effect where there is no limit.
    ///
    /// - Returns: whether there is a limit.
    mutating func limit(_ bytes: Int, bound: JournalRoom.Bound = .operator) -> Bool {
        guard let held = journal?.held else { return false }
        journal = JournalRoom(held: held, limit: bytes, bound: bound)
        return true
    }

    /// The job to delete now because the journal holds more than it may: the one that ended first among those that nobody fetches.
    /// Where there is none, `limitReason` says why tasks wait until there is one, or until somebody deletes jobs or raises the
    /// limit.
    ///
    /// Jobs are deleted one after the other: the result is `nil` while the previous deletion is not `stored`.
    mutating func nextDeletion(among ended: EndedJobs, stored: UInt64, now: Duration) -> JobID? {
        (limitReason, due) = (nil, nil)
        guard let journal, journal.isFull, stored >= deletion else { return nil }
        if let oldest = ended.oldest(now: now) { return oldest }
        due = ended.nextFree(among: .max)
        limitReason = journal.isWish ? nil : journal.reason
        return nil
    }

    /// Records the entry that deletes the job.
    mutating func awaitDeletion(by entry: UInt64) { deletion = entry }

    /// The jobs to delete: those that ended long ago, and those that ended first where there are too many.
    func surplus(among ended: EndedJobs, now: Duration) -> [JobID] { ended.surplus(retention, now: now) }

    /// Sets when to look again at the jobs that somebody may still fetch. Call it when the surplus is deleted.
    mutating func planNextLook(at ended: EndedJobs) {
        guard limitReason == nil else { return }
        let surplus = ended.count - retention.count
        due = surplus > 0 ? ended.nextFree(among: min(surplus, StorageRoom.lookLimit)) : nil
    }
}
