import DequeModule

/// Ensures, as a value, that everything is stored before it is published. It holds the entries that were decided, in order, and the
/// events that wait until the entries that they depend on are stored. The owner writes the entries and reports how many are stored.
///
/// Entries are counted from 1 in the order in which they were decided. An event depends on the newest entry of the moment when it
/// was added. So it is released after everything that was decided before it, and in the order of the decisions.
struct WriteAheadQueue {
    /// An event that waits to be published.
    struct Waiting {
        fileprivate var entry: UInt64
        var job: JobID
        var event: JobEvent.Kind
        /// The task that it is about, or from whose end it follows.
        var task: Int?
        /// When it happened.
        var time: Duration
    }

    /// The numbers of the newest entry and of the newest stored entry.
    private(set) var lastEntry: UInt64 = 0
    private(set) var lastStored: UInt64 = 0
    /// Whether so many entries wait to be stored that no new work is to be sent out.
    private(set) var isBehind = false
    /// Why nothing can be stored at present; `nil` where it can.
    private(set) var failure: String?
    /// Jobs whose deletion was stored ahead of earlier entries.
    private(set) var deletedAhead: Set<JobID> = []
    /// How long results that nobody waits for gather, from the beginning of the last transaction on, so that they are stored together.
    /// A transaction costs a disk, and the other nodes that keep copies, far more than a result in it.
    var gatheringTime: Duration = .zero
    /// Entries that are not being written yet.
    private var unwritten: [JournalEntry] = []
    private var unwrittenBytes = 0
    private var isWriting = false
    /// Whether something waits for one of these entries.
    private var isUrgent = false
    /// When the last transaction began.
    private var lastBegun: Duration?
    /// Until when entries gather at least, because something that is to follow soon is to be stored with them.
    private var patience: Duration?
    private var waiting: Deque<Waiting> = []
    /// Attempts for this node. They are sent once the journal records that they are.
    private var heldAttempts: Deque<(entry: UInt64, request: RunRequest)> = []

    /// The number of waiting entries above which no new work is sent out. Work goes on when fewer than half as many wait.
    static let backlogLimit: UInt64 = 100_000
    /// Largest transaction, in entries and bytes.
    static let transactionLimit = (entries: 10_000, bytes: 16 << 20)
    /// As soon as so many entries or bytes have gathered, they are stored.
    static let gatheringLimit = (entries: 32, bytes: 1 << 20)

    /// Whether everything that was decided is stored.
    var isSettled: Bool { lastStored >= lastEntry }

    // MARK: - Entries

    /// Adds an entry, which is stored after all entries before it. A result may wait for others; see `hurry`.
    ///
    /// - Parameter wait: how long the entry waits for others that follow it; the owner has to `hurry` then, or it gathers like a
    ///   result. `nil` for what is usual for its kind.
    /// - Returns: whether the owner has to begin writing, because no writing is under way.
    mutating func append(_ entry: JournalEntry, waiting wait: Duration? = nil, at now: Duration) -> Bool {
        lastEntry += 1
        unwritten.append(entry)
        unwrittenBytes += entry.byteCount
        if let wait {
            patience = patience ?? now + wait
        } else if !entry.isResult {
            isUrgent = true
        }
        if lastEntry - lastStored > WriteAheadQueue.backlogLimit { isBehind = true }
        return begin(at: now)
    }

    /// Something waits for what was decided so far.
    ///
    /// - Returns: whether the owner has to begin writing.
    mutating func hurry(at now: Duration) -> Bool {
        isUrgent = !unwritten.isEmpty
        return begin(at: now)
    }

    /// - Returns: whether the owner has to begin writing, because entries are to be stored now and no writing is under way.
    mutating func begin(at now: Duration) -> Bool {
        guard !isWriting, isDue(at: now) else { return false }
        isWriting = true
        return true
    }

    /// When entries are to be stored, if nothing else happens; `nil` where none gather.
    func due(at now: Duration) -> Duration? {
        guard !unwritten.isEmpty, let due = gatheredAt else { return nil }
        // What is due while a transaction is under way follows it.
        return due > now || !isWriting ? due : nil
    }

    private func isDue(at now: Duration) -> Bool {
        guard !unwritten.isEmpty else { return false }
        let limit = WriteAheadQueue.gatheringLimit
        guard !isUrgent, unwritten.count < limit.entries, unwrittenBytes < limit.bytes, let gatheredAt else {
            return true
        }
        return now >= gatheredAt
    }

    /// The end of the time for which entries gather; `nil` where they do not.
    private var gatheredAt: Duration? {
        guard let lastBegun else { return patience }
        return max(lastBegun + gatheringTime, patience ?? .zero)
    }

    /// The entries to write now, in one transaction. `nil` means that there are none, or that they still gather, which ends the
    /// writing.
    ///
    /// - Parameters:
    ///   - room: what the journal holds and what it may hold.
    ///   - goesOn: whether the writing goes on although there are no entries. An empty transaction then looks at the disk.
    mutating func nextEntries(in room: JournalRoom?, goesOn: Bool = false, at now: Duration) -> [JournalEntry]? {
        guard isDue(at: now) else {
            if goesOn { return [] }
            isWriting = false
            return nil
        }
        lastBegun = now
        let limit = room.map(WriteAheadQueue.transactionBytes) ?? WriteAheadQueue.transactionLimit.bytes
        var (count, bytes) = (0, 0)
        while count < min(unwritten.count, WriteAheadQueue.transactionLimit.entries), bytes < limit {
            bytes += unwritten[count].byteCount
            count += 1
        }
        defer {
            unwritten.removeFirst(count)
            unwrittenBytes -= bytes
            if unwritten.isEmpty { (isUrgent, patience) = (false, nil) }
        }
        return withoutDeleted(Array(unwritten[..<count]))
    }

    /// Removes and returns all entries that are not being written yet, so that they can be written in one go at the end.
    mutating func takeAll() -> [JournalEntry] {
        defer { (unwritten, unwrittenBytes) = ([], 0) }
        return unwritten
    }

    /// Takes back entries that may not have been stored. Storing an entry twice has no further effect.
    mutating func giveBack(_ entries: [JournalEntry]) {
        unwritten.insert(contentsOf: entries, at: 0)
        unwrittenBytes += entries.reduce(0) { $0 + $1.byteCount }
    }

    /// The largest transaction in bytes. One transaction must not fill the rest of a small disk. Its data is on the disk twice
    /// until it is moved into the main file.
    private static func transactionBytes(_ room: JournalRoom) -> Int {
        min(transactionLimit.bytes, max(64 << 10, (room.limit - room.held) / 4))
    }

    // MARK: - Deletions that go ahead

    /// The jobs whose deletion waits behind entries that cannot be stored. These deletions are stored first, and make room.
    ///
    /// - Parameter entries: the entries that could not be stored.
    func nextDeletions(_ entries: [JournalEntry]) -> Set<JobID> {
        Set((entries + unwritten).filter(\.isDeletion).map(\.job)).subtracting(deletedAhead)
    }

    /// Records that jobs have been deleted before their turn.
    mutating func markDeletedAhead(_ jobs: Set<JobID>) { deletedAhead.formUnion(jobs) }

    /// Replaces the entries of deleted jobs. They need not be stored any more, but keep their place in the order.
    func withoutDeleted(_ entries: [JournalEntry]) -> [JournalEntry] {
        deletedAhead.isEmpty ? entries : entries.map { deletedAhead.contains($0.job) ? .deleted($0.job) : $0 }
    }

    // MARK: - What the journal reports

    /// The journal has stored the next entries. Call `nextReleased` afterwards until it returns `nil`.
    mutating func store(_ count: Int) {
        if !deletedAhead.isEmpty { deletedAhead.formIntersection(unwritten.map(\.job)) }
        lastStored = min(lastEntry, lastStored + UInt64(max(0, count)))
    }

    /// The journal cannot store for now, or can again (`nil`).
    mutating func setFailure(_ reason: String?) { failure = reason }

    // MARK: - What waits

    /// Keeps an event until everything that has been decided so far is stored.
    mutating func wait(_ event: JobEvent.Kind, of job: JobID, task: Int? = nil, at time: Duration) {
        waiting.append(Waiting(entry: lastEntry, job: job, event: event, task: task, time: time))
    }

    /// Keeps an attempt until the newest entry is stored.
    mutating func hold(_ request: RunRequest) { heldAttempts.append((lastEntry, request)) }

    /// Removes an attempt that has not been sent.
    ///
    /// - Returns: whether it was held.
    mutating func withdraw(_ attempt: AttemptID) -> Bool {
        guard let index = heldAttempts.firstIndex(where: { $0.request.attempt == attempt }) else { return false }
        heldAttempts.remove(at: index)
        return true
    }

    /// The next event, if the entry that it depends on is stored.
    mutating func nextReleased() -> Waiting? {
        guard let first = waiting.first, first.entry <= lastStored else {
            // This is decided after all events are released, because that may have added new entries.
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
