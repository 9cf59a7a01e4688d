// MARK: - Room for what is stored

extension CoordinatorCore {
    /// The journal cannot store for now: what runs goes on, nothing new is sent out.
    mutating func journalFails(_ reason: String) {
        journalFailure = reason
        updateSuspension()
    }

    /// Why nothing more fits on the disk; `nil` where it does. (Where only the operator's limit is reached, jobs wait for room.)
    var diskFault: String? { room?.isOfDisk == true ? limitReason : nil }

    /// - Parameter room: what it holds now; `nil` where there is no limit.
    mutating func journalWorks(_ room: JournalRoom?) {
        journalFailure = nil
        self.room = room
        makeRoom()
        updateSuspension()
    }

    /// Another limit from now on; without effect where there is none.
    mutating func limitStorage(_ bytes: Int) {
        guard let held = room?.held else { return }
        room = JournalRoom(held: held, limit: bytes)
        makeRoom()
        updateSuspension()
    }

    /// Deletes the jobs that ended first, one after the other, while the journal holds more than it may; where there is none,
    /// tasks wait until there is, or somebody deletes jobs or raises the limit.
    mutating func makeRoom() {
        (limitReason, roomDue) = (nil, nil)
        guard let room, room.isFull, lastStored >= roomEntry else { return forgetOldJobs() }
        if let oldest = endedJobs.oldest(now: now) {
            delete(oldest)
            roomEntry = lastEntry
            return
        }
        roomDue = endedJobs.nextFree(among: .max)
        limitReason = room.reason
    }

    /// Whether tasks wait for room on the disk, of which nobody says when somebody else has made it.
    var waitsForDisk: Bool { diskFault != nil }

    /// Keeps what `retention` says from now on.
    mutating func retain(_ retention: JobRetention) {
        self.retention = retention
        forgetOldJobs()
    }

    /// Removes jobs that ended long ago, and those that ended first where there are too many.
    mutating func forgetOldJobs() {
        for job in endedJobs.surplus(retention, now: now) { delete(job) }
        guard limitReason == nil else { return }
        // Those that somebody may still fetch are looked at again.
        let surplus = endedJobs.count - retention.count
        roomDue = surplus > 0 ? endedJobs.nextFree(among: min(surplus, 16)) : nil
    }

    /// Somebody fetches results of a job: it is not deleted meanwhile to make room for others.
    mutating func use(_ job: JobID) { endedJobs.use(job, now: now) }
}
