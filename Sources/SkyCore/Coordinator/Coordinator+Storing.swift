import Base
import Logging
import Transport

// Decisions go to the journal in the order in which they were made.

extension Coordinator {
    /// The entries to store now. `nil` means that there are none, which ends the storing. An empty array means that only the disk
    /// is to be looked at.
    func nextEntries() -> [JournalEntry]? { core.nextEntries(looksAtDisk: !isClosed) }

    /// How long the coordinator has run, in all its incarnations.
    func ran() -> Duration { core.jobs.ranBefore + now }

    /// The journal has stored these entries.
    func stored(_ entries: [JournalEntry], _ appended: Journal.Appended) {
        if appended.repeated > 0 {
            logger.error("\(appended.repeated) results came twice and were left out the second time")
        }
        let refused = appended.refused.filter { entries.indices.contains($0.place) }
            .map { (job: entries[$0.place].job, reason: $0.reason) }
        let room = journal.isLasting ? appended.room : nil
        updateCore { $0.stored(entries.count, refused: refused, in: room) }
        noteRecovery()
        for (job, reason) in refused {
            logger.error(
                "an entry cannot be stored, and its job is given up",
                metadata: ["job": "\(job)", "reason": "\(PrintableText.of(reason))"])
        }
        while let first = storeWaiters.first, first.entry <= core.writeAhead.lastStored {
            storeWaiters.removeFirst().latch.open()
        }
    }

    /// Stores what is left when `run` has ended, and closes the journal. Jobs that go on are resumed at the next start.
    ///
    /// - Parameter isTakenOver: whether another node has the jobs now, and nothing of them may be stored here any more.
    package func close(isTakenOver: Bool = false) async {
        isClosed = true
        let entries = isTakenOver ? [] : core.writeAhead.takeAll()
        let (journal, store, logger, ran) = (journal, store, logger, ran())
        // The last entries are stored in a new task, because the caller's task is cancelled.
        let isStored = await Task {
            do {
                // What is stored here only is published when it is on other nodes, too: after the next start.
                try await store.append(entries, ran: ran, isLocal: true)
                try await journal.close(ran: ran)
                return true
            } catch {
                logger.error("the last results could not be stored: \(error)")
                return false
            }
        }.value
        // A node that takes the jobs over may lack what only this one has stored, and has it done again.
        let isAlone = await store.replica?.isAlone ?? true
        if isStored, isAlone, !isTakenOver { updateCore { $0.storedLast() } }
        releaseWaiters()
    }

    /// Releases those who wait for something to be stored. They check themselves what has become of it.
    private func releaseWaiters() {
        for waiter in storeWaiters { waiter.latch.open() }
        storeWaiters = []
    }

    /// The journal could not store something. The log says it when it begins; the jobs say what has changed since.
    func journalFailed(_ error: JournalError) {
        if error.kind == .superseded { isSuperseded = true }
        // A coordinator whose jobs go on elsewhere is about to end, which is reported in its own words.
        if error.kind != .superseded, storingTroubles.insert(error.kind).inserted {
            logger.error("nothing can be stored: \(error.message)")
        }
        updateCore { $0.journalFailed(error.message) }
        releaseWaiters()
    }

    /// The journal can store again, as far as is known.
    func journalRecovered() {
        updateCore { $0.journalRecovered() }
        noteRecovery()
    }

    private func noteRecovery() {
        guard !storingTroubles.isEmpty, core.writeAhead.failure == nil else { return }
        storingTroubles = []
        logger.notice("results are stored again")
    }

    /// Looks whether the journal's share of the room has changed. Other journals grow while nothing is stored in this one.
    func lookAtShare() async {
        let (bytes, bound) = journal.limit
        guard let known = core.room.journal, !known.isOfDisk || bytes < known.limit,
            (known.limit, known.bound) != (bytes, bound)
        else { return }
        if known.held > bytes, await keepToLimit() { return }
        updateCore { $0.shareChanged(bytes, bound) }
    }

    /// Looks what the journal holds, which is otherwise known from its next entry on only. Where that is too much, earlier results go
    /// first, because they can be made again; then jobs do.
    ///
    /// - Returns: whether that is known now.
    @discardableResult
    func keepToLimit() async -> Bool {
        guard journal.isLasting, let found = try? await journal.keepToLimit() else { return false }
        copies?.room.note(found.held, of: journal.incarnation.coordinator)
        updateCore { $0.measured(found) }
        return true
    }

    /// Releases the results that are kept in memory, and trims the journal.
    func trim() async {
        fetched.removeAll()
        updateCore { $0.releaseResults() }
        await journal.trim()
    }

    /// Sets how much is kept from now on, as the operator wants it.
    func setLimits(_ retention: JobRetention, _ limits: JournalLimits) async {
        journal.limits = limits
        let isKnown = await keepToLimit()
        updateCore { $0.setLimits(retention, bytes: isKnown || !journal.isLasting ? nil : limits.bytes) }
    }
}
