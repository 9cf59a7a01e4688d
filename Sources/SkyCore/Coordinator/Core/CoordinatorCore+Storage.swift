import Base
import Transport

// MARK: - What is stored before what is published

extension CoordinatorCore {
    /// Has an entry stored, after all before it.
    mutating func store(_ entry: JournalEntry) {
        if writeAhead.append(entry) { outbox.append(.effect(.write)) }
        if writeAhead.isBehind { updateSuspension() }
    }

    /// Publishes an event when everything that was decided so far is stored.
    mutating func publishWhenStored(_ event: JobEvent.Kind, of job: JobID) {
        writeAhead.wait(.event(event, at: now), of: job)
        if writeAhead.isSettled { releaseStored() }
    }

    /// Publishes, issues and sends what rests on nothing that is not stored, and lets nodes forget their results.
    private mutating func releaseStored() {
        var published: [JobID] = []
        var known: Set<JobID> = []
        while let next = writeAhead.nextReleased() {
            switch next.matter {
            case .event(let event, let time):
                publish(event, of: next.job, at: time)
                if known.insert(next.job).inserted { published.append(next.job) }
            case .step(let tasks, let isLast): issue(tasks, of: next.job, isLast: isLast)
            }
        }
        for job in published { outbox.append(.published(job)) }
        while let request = writeAhead.nextReleasedAttempt() { begin(dispatch.assign(request, to: dispatch.own)) }
        begin(dispatch.store(upTo: writeAhead.lastStored))
        updateSuspension()
    }

    private mutating func publish(_ event: JobEvent.Kind, of job: JobID, at time: Duration) {
        guard jobs.publish(event, of: job, at: time) else { return }
        // Whoever waits for a job's end is told of it first.
        if case .ended = event { forgetOldJobs() }
    }

    /// Nothing new is sent out while the journal cannot store, or is far behind.
    mutating func updateSuspension() {
        let isSuspended = pauseReason != nil || writeAhead.isBehind
        if dispatch.suspend(isSuspended) { schedule(.suspended(isSuspended)) }
    }
}

// MARK: - Events of the journal

extension CoordinatorCore {
    /// The journal has stored the next entries, so many.
    ///
    /// - Parameters:
    ///   - refused: jobs of which an entry cannot be stored, ever, and why: they are given up.
    ///   - journal: what it holds now; `nil` where there is no limit.
    mutating func stored(_ count: Int, refused: [(job: JobID, reason: String)] = [], in journal: JournalRoom?) {
        writeAhead.store(count)
        releaseStored()
        for (job, reason) in refused {
            giveUp(job, SkyError(.failed, "a part of it cannot be stored: \(PrintableText.of(reason))"))
        }
        writeAhead.setFailure(nil)
        room.measure(journal)
        makeRoom()
        updateSuspension()
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

    /// What is to be written now; `nil` where nothing is, which ends the writing. Empty while tasks wait for room on the disk and
    /// nothing is stored that would tell whether there is some by now.
    ///
    /// - Parameter looksAtDisk: whether anybody still looks.
    mutating func nextEntries(looksAtDisk: Bool) -> [JournalEntry]? {
        writeAhead.nextEntries(in: room.journal, goesOn: looksAtDisk && room.diskFault != nil)
    }
}

// MARK: - Room for what is stored

extension CoordinatorCore {
    /// Keeps what `retention` says from now on, in so many bytes; `nil` where there is no limit.
    mutating func setLimits(_ retention: JobRetention, bytes: Int?) {
        room.retain(retention)
        forgetOldJobs()
        guard let bytes, room.limit(bytes) else { return }
        makeRoom()
        updateSuspension()
    }

    /// Deletes the jobs that ended first, one after the other, while the journal holds more than it may; where there is none,
    /// tasks wait until there is, or somebody deletes jobs or raises the limit.
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
