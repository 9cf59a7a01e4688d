import DequeModule

/// What is stored before what is published, as a value: the entries that were decided, in order, and whatever waits until it is
/// stored what it rests on. The owner writes the entries and says how many are stored.
///
/// Entries are counted from 1 in the order in which they were decided. What waits rests on the newest entry of its moment: so it
/// is released after all that was decided before it, and in the order of the decisions.
struct WriteAheadQueue {
    /// What waits until an entry is stored.
    enum Matter {
        /// Is to be published.
        case event(JobEvent.Kind, at: Duration)
        /// Tasks of a plan's next step, which rest on the results before it: after a restart these must be the same.
        case step(Range<Int>, isLast: Bool)
    }

    /// Something that waits, and the job that it is about.
    struct Waiting {
        fileprivate var entry: UInt64
        var job: JobID
        var matter: Matter
    }

    /// The newest entry, and the newest one that is stored.
    private(set) var lastEntry: UInt64 = 0
    private(set) var lastStored: UInt64 = 0
    /// Whether so much waits to be stored that nothing new is to be sent out.
    private(set) var isBehind = false
    /// Why nothing can be stored at present; `nil` where it can.
    private(set) var failure: String?
    /// Jobs that were deleted before what was decided earlier could be stored.
    private(set) var deletedAhead: Set<JobID> = []
    /// Entries that nobody writes yet.
    private var unwritten: [JournalEntry] = []
    private var isWriting = false
    private var waiting: Deque<Waiting> = []
    /// Attempts that are to be sent to this node once it is stored that they are.
    private var heldAttempts: Deque<(entry: UInt64, request: RunRequest)> = []

    /// Entries that may wait to be stored before nothing new is sent out; it goes on when less than half of them do.
    static let backlogLimit: UInt64 = 100_000
    /// What is stored in one transaction, in entries and bytes.
    static let transactionLimit = (entries: 10_000, bytes: 16 << 20)

    /// Whether everything that was decided is stored.
    var isSettled: Bool { lastStored >= lastEntry }

    // MARK: - Entries

    /// Takes an entry that is to be stored after all before it.
    ///
    /// - Returns: whether somebody is to begin to write: nobody does so far.
    mutating func append(_ entry: JournalEntry) -> Bool {
        lastEntry += 1
        unwritten.append(entry)
        if lastEntry - lastStored > WriteAheadQueue.backlogLimit { isBehind = true }
        defer { isWriting = true }
        return !isWriting
    }

    /// What is to be written now, in one transaction; `nil` where nothing is, which ends the writing.
    ///
    /// - Parameters:
    ///   - room: what the journal holds, and may hold.
    ///   - goesOn: whether the writing goes on although there is nothing to write: then an empty transaction looks at the disk.
    mutating func nextEntries(in room: JournalRoom?, goesOn: Bool = false) -> [JournalEntry]? {
        guard !unwritten.isEmpty else {
            if goesOn { return [] }
            isWriting = false
            return nil
        }
        let limit = room.map(WriteAheadQueue.transactionBytes) ?? WriteAheadQueue.transactionLimit.bytes
        var (count, bytes) = (0, 0)
        while count < min(unwritten.count, WriteAheadQueue.transactionLimit.entries), bytes < limit {
            bytes += unwritten[count].byteCount
            count += 1
        }
        defer { unwritten.removeFirst(count) }
        return withoutDeleted(Array(unwritten[..<count]))
    }

    /// All that nobody writes yet, for whoever writes it in one go at the end.
    mutating func takeAll() -> [JournalEntry] {
        defer { unwritten = [] }
        return unwritten
    }

    /// Takes entries back that may not have been stored; storing twice what was does nothing.
    mutating func giveBack(_ entries: [JournalEntry]) { unwritten.insert(contentsOf: entries, at: 0) }

    /// What is left of a small disk is not filled by one transaction, which is there twice until it is brought into the file.
    private static func transactionBytes(_ room: JournalRoom) -> Int {
        min(transactionLimit.bytes, max(64 << 10, (room.limit - room.held) / 4))
    }

    // MARK: - Deletions that go ahead

    /// Jobs that are to be deleted, while what was decided before cannot be stored: they go first, and make room for it.
    ///
    /// - Parameter entries: those that could not be stored.
    func nextDeletions(_ entries: [JournalEntry]) -> Set<JobID> {
        Set((entries + unwritten).filter(\.isDeletion).map(\.job)).subtracting(deletedAhead)
    }

    /// Jobs have been deleted before their turn.
    mutating func markDeletedAhead(_ jobs: Set<JobID>) { deletedAhead.formUnion(jobs) }

    /// What is about jobs that are gone need not be stored any more, but has its place in the order.
    func withoutDeleted(_ entries: [JournalEntry]) -> [JournalEntry] {
        deletedAhead.isEmpty ? entries : entries.map { deletedAhead.contains($0.job) ? .deleted($0.job) : $0 }
    }

    // MARK: - What the journal reports

    /// The journal has stored the next entries. To be followed by `nextReleased` until there is nothing more.
    mutating func store(_ count: Int) {
        if !deletedAhead.isEmpty { deletedAhead.formIntersection(unwritten.map(\.job)) }
        lastStored = min(lastEntry, lastStored + UInt64(max(0, count)))
    }

    /// The journal cannot store for now, or can again (`nil`).
    mutating func setFailure(_ reason: String?) { failure = reason }

    // MARK: - What waits

    /// Keeps something until all that has been decided so far is stored.
    mutating func wait(_ matter: Matter, of job: JobID) {
        waiting.append(Waiting(entry: lastEntry, job: job, matter: matter))
    }

    /// Keeps an attempt until the newest entry is stored.
    mutating func hold(_ request: RunRequest) { heldAttempts.append((lastEntry, request)) }

    /// Lets go of an attempt that has not been sent.
    ///
    /// - Returns: whether it was held.
    mutating func withdraw(_ attempt: AttemptID) -> Bool {
        guard let index = heldAttempts.firstIndex(where: { $0.request.attempt == attempt }) else { return false }
        heldAttempts.remove(at: index)
        return true
    }

    /// The next of what waited, if what it rests on is stored.
    mutating func nextReleased() -> Waiting? {
        guard let first = waiting.first, first.entry <= lastStored else {
            // Only now: what was released may have brought new entries.
            if lastEntry - lastStored < WriteAheadQueue.backlogLimit / 2 { isBehind = false }
            return nil
        }
        return waiting.removeFirst()
    }

    /// The next attempt that may be sent.
    mutating func nextReleasedAttempt() -> RunRequest? {
        guard let first = heldAttempts.first, first.entry <= lastStored else { return nil }
        return heldAttempts.removeFirst().request
    }
}
