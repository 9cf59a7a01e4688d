import Base
import Logging
import Transport

// What is decided goes to the journal in the order in which it was decided.

extension Coordinator {
    /// What is to be stored now; `nil` where nothing is, which ends the storing. Empty while tasks wait for room on the disk and
    /// nothing is stored that would tell whether there is some by now.
    func nextEntries() -> [JournalEntry]? {
        guard !unstored.isEmpty else {
            if core.waitsForDisk, !isClosed { return [] }
            isWriting = false
            return nil
        }
        let limit = core.room.map(Coordinator.transactionBytes) ?? Coordinator.transactionLimit.bytes
        var (count, bytes) = (0, 0)
        while count < min(unstored.count, Coordinator.transactionLimit.entries),
            bytes < limit
        {
            bytes += unstored[count].byteCount
            count += 1
        }
        defer { unstored.removeFirst(count) }
        return withoutDeleted(Array(unstored[..<count]))
    }

    /// What is left of a small disk is not filled by one transaction, which is there twice until it is brought into the file.
    static func transactionBytes(_ room: JournalRoom) -> Int {
        min(transactionLimit.bytes, max(64 << 10, (room.limit - room.held) / 4))
    }

    /// Jobs that are to be deleted, while what was decided before cannot be stored: they go first, and make room for it.
    ///
    /// - Parameter entries: those that could not be stored.
    func nextDeletions(_ entries: [JournalEntry]) -> Set<JobID> {
        Set((entries + unstored).filter(\.isDeletion).map(\.job)).subtracting(deletedAhead)
    }

    /// How long it has run, in all its lives.
    func ran() -> Duration { core.ranBefore + now }

    /// Jobs have been deleted before their turn.
    func deleted(ahead jobs: Set<JobID>) { deletedAhead.formUnion(jobs) }

    /// What is about jobs that are gone need not be stored any more, but has its place in the order.
    func withoutDeleted(_ entries: [JournalEntry]) -> [JournalEntry] {
        deletedAhead.isEmpty ? entries : entries.map { deletedAhead.contains($0.job) ? .deleted($0.job) : $0 }
    }

    func stored(_ entries: [JournalEntry], _ appended: Journal.Appended) {
        let count = entries.count
        if !deletedAhead.isEmpty {
            let waiting = Set(unstored.map(\.job))
            deletedAhead.formIntersection(waiting)
        }
        if appended.repeated > 0 {
            logger.error("\(appended.repeated) results came twice and were left out the second time")
        }
        change { core in
            core.stored(core.lastStored + UInt64(count))
            for (place, reason) in appended.refused where entries.indices.contains(place) {
                core.give(
                    up: entries[place].job,
                    SkyError(.failed, "a part of it cannot be stored: \(PrintableText.of(reason))"))
            }
            core.journalWorks(journal.isLasting ? appended.room : nil)
        }
        for (place, reason) in appended.refused where entries.indices.contains(place) {
            logger.error(
                "an entry cannot be stored, and its job is given up",
                metadata: ["job": "\(entries[place].job)", "reason": "\(PrintableText.of(reason))"])
        }
        while let first = storeWaiters.first, first.entry <= core.lastStored {
            storeWaiters.removeFirst().latch.open()
        }
    }

    /// Entries that may not have been stored; storing twice what was does nothing.
    func giveBack(_ entries: [JournalEntry]) { unstored.insert(contentsOf: entries, at: 0) }

    /// Stores what is left when `run` has ended, and closes the journal. Jobs that go on are resumed at the next start.
    package func close() async {
        isClosed = true
        let entries = unstored
        unstored = []
        let (journal, logger, ran) = (journal, logger, ran())
        // Not the caller's task, which is cancelled.
        let isStored = await Task {
            do {
                try await journal.append(entries, ran: ran)
                try await journal.close(ran: ran)
                return true
            } catch {
                logger.error("the last results could not be stored: \(error)")
                return false
            }
        }.value
        if isStored { change { $0.stored($0.lastEntry) } }
        releaseWaiters()
    }

    /// Lets those go who wait for something to be stored: they look for themselves what has become of it.
    func releaseWaiters() {
        for waiter in storeWaiters { waiter.latch.open() }
        storeWaiters = []
    }

    func journalFails(_ error: JournalError) {
        if core.pauseReason != error.message { logger.error("nothing can be stored: \(error.message)") }
        change { $0.journalFails(error.message) }
        releaseWaiters()
    }
}
