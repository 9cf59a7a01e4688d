import Base
import Transport

// MARK: - Storing before publishing

extension CoordinatorCore {
    /// Has an entry stored, after all entries before it.
    ///
    /// - Parameter wait: how long it waits for others that follow it, as in `WriteAheadQueue.append`.
    mutating func store(_ entry: JournalEntry, waiting wait: Duration? = nil) {
        if writeAhead.append(entry, waiting: wait, at: now) { outbox.append(.effect(.write)) }
        if writeAhead.isBehind { updateSuspension() }
    }

    /// Something waits until everything is stored that was decided so far.
    mutating func hurry() {
        if writeAhead.hurry(at: now) { outbox.append(.effect(.write)) }
    }

    /// Publishes an event when everything that was decided so far is stored.
    ///
    /// - Parameter task: the task that it is about, or from whose end it follows; `nil` for other events.
    mutating func publishWhenStored(_ event: JobEvent.Kind, of job: JobID, task: Int? = nil) {
        writeAhead.wait(event, of: job, task: task, at: now)
        if writeAhead.isSettled { releaseStored() }
    }

    /// Publishes the events and sends the attempts that depend only on stored entries, and lets nodes forget their stored results.
    private mutating func releaseStored() {
        var published: [JobID] = []
        var known: Set<JobID> = []
        while let next = writeAhead.nextReleased() {
            publish(next)
            if known.insert(next.job).inserted { published.append(next.job) }
        }
        for job in published { outbox.append(.published(job)) }
        while let request = writeAhead.nextReleasedAttempt() { begin(dispatch.assign(request, to: dispatch.own)) }
        begin(dispatch.store(upTo: writeAhead.lastStored))
        updateSuspension()
    }

    private mutating func publish(_ next: WriteAheadQueue.Waiting) {
        guard jobs.publish(next.event, of: next.job, task: next.task, at: next.time) else { return }
        // The end of a job is published before old jobs are deleted, so that those who wait for it learn of it first.
        if case .ended = next.event { forgetOldJobs() }
    }

    /// Nothing new is sent out while the journal cannot store, or is far behind.
    mutating func updateSuspension() {
        let isSuspended = pauseReason != nil || writeAhead.isBehind
        if dispatch.suspend(isSuspended) { schedule(.suspended(isSuspended)) }
    }
}

// MARK: - Events of the journal

extension CoordinatorCore {
    /// The journal has stored the next `count` entries.
    ///
    /// - Parameters:
    ///   - refused: the jobs that are given up because one of their entries can never be stored, with the reasons.
    ///   - journal: what the journal holds now; `nil` where there is no limit.
    mutating func stored(_ count: Int, refused: [(job: JobID, reason: String)] = [], in journal: JournalRoom?) {
        writeAhead.store(count)
        releaseStored()
        for (job, reason) in refused {
            giveUp(job, SkyError(.failed, "a part of it cannot be stored: \(PrintableText.of(reason))"))
        }
        writeAhead.setFailure(nil)
        measured(journal)
    }

    /// Everything that was decided is stored, and the journal is closed.
    mutating func storedLast() {
        writeAhead.store(Int(clamping: writeAhead.lastEntry - writeAhead.lastStored))
        releaseStored()
    }

    /// The journal cannot store for now: what runs goes on, nothing new is sent out.
    mutating func journalFailed(_ reason: String) {
        writeAhead.setFailure(reason)
        updateSuspension()
    }

    /// The journal can store again, as far as is known. Where something waits to be stored, its storing will tell.
    mutating func journalRecovered() {
        guard writeAhead.failure != nil, writeAhead.isSettled else { return }
        writeAhead.setFailure(nil)
        updateSuspension()
    }

    /// The entries to write now. `nil` means that there are none, which ends the writing. The array is empty while tasks wait for
    /// room on the disk: storing nothing then shows whether there is room by now.
    ///
    /// - Parameter looksAtDisk: whether the owner still looks at the disk.
    mutating func nextEntries(looksAtDisk: Bool) -> [JournalEntry]? {
        writeAhead.nextEntries(in: room.journal, goesOn: looksAtDisk && room.diskFault != nil, at: now)
    }
}

// MARK: - Room in the journal

extension CoordinatorCore {
    /// The journal was looked at, and holds so much; `nil` where there is no limit.
    mutating func measured(_ journal: JournalRoom?) {
        room.measure(journal)
        makeRoom()
        updateSuspension()
    }

    /// Sets how many ended jobs are kept from now on and for how long, and how many bytes the journal may hold; `nil` where
    /// there is no limit.
    mutating func setLimits(_ retention: JobRetention, bytes: Int?) {
        room.retain(retention)
        forgetOldJobs()
        guard let bytes, room.limit(bytes) else { return }
        makeRoom()
        updateSuspension()
    }

    /// The journal's share of the room has changed, though nothing was stored.
    mutating func shareChanged(_ bytes: Int, _ bound: JournalRoom.Bound) {
        guard room.limit(bytes, bound: bound) else { return }
        makeRoom()
        updateSuspension()
    }

    /// Deletes the jobs that ended first, one after the other, while the journal holds more than it may. Where no job can be
    /// deleted, tasks wait until one can, or until somebody deletes jobs or raises the limit.
    mutating func makeRoom() {
        if let oldest = room.nextDeletion(among: jobs.ended, stored: writeAhead.lastStored, now: now) {
            delete(oldest)
            room.awaitDeletion(by: writeAhead.lastEntry)
        } else if room.limitReason == nil {
            forgetOldJobs()
        }
    }

    /// Removes jobs that ended long ago, and those that ended first where there are too many.
    mutating func forgetOldJobs() {
        for job in room.surplus(among: jobs.ended, now: now) { delete(job) }
        room.planNextLook(at: jobs.ended)
    }
}
