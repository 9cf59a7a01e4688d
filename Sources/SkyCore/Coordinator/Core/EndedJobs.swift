import DequeModule

/// The jobs that have ended, in the order of their ends, and which of them may be forgotten. A value without a clock: times
/// count from the coordinator's start, those before it are negative.
///
/// Whoever waits for a job's end fetches its results then. So a job is left alone for a while after its end, and as long as
/// somebody fetches from it, however many younger jobs have ended meanwhile.
struct EndedJobs {
    private struct Entry {
        var endedAt: Duration
        /// When somebody last fetched something of it.
        var usedAt: Duration
    }

    private var entries: [JobID: Entry] = [:]
    /// By the time of their end; may name jobs that are gone.
    private var order: Deque<JobID> = []

    /// How long the results of a job are left to whoever waited for its end, or fetches them.
    static let fetchingTime = Duration.seconds(60)
    /// Jobs beyond those that are to be kept that may wait for the end of that time: a stream of tiny jobs must not fill the
    /// memory.
    static let graceLimit = 10_000

    var count: Int { entries.count }

    mutating func insert(_ job: JobID, endedAt: Duration) {
        guard entries.updateValue(Entry(endedAt: endedAt, usedAt: endedAt), forKey: job) == nil else { return }
        // Jobs of an earlier life come in the order of their submission.
        var place = order.endIndex
        while place > order.startIndex, let before = entries[order[place - 1]], before.endedAt > endedAt { place -= 1 }
        order.insert(job, at: place)
    }

    /// Somebody fetches something of a job.
    mutating func use(_ job: JobID, now: Duration) { entries[job]?.usedAt = now }

    mutating func remove(_ job: JobID) {
        guard entries.removeValue(forKey: job) != nil else { return }
        if order.count > 2 * entries.count + 16 { order.removeAll { entries[$0] == nil } }
    }

    /// Jobs that are to be forgotten now: those that ended too long ago, and the first that ended where there are too many.
    func surplus(_ retention: JobRetention, now: Duration) -> [JobID] {
        var found: [JobID] = []
        var left = entries.count
        for job in order {
            guard let entry = entries[job] else { continue }
            let isOld = now - entry.endedAt > retention.age
            // Those behind it are younger.
            guard isOld || left > retention.count else { break }
            let mustGo = left > retention.count + EndedJobs.graceLimit
            guard mustGo || now - entry.endedAt >= EndedJobs.fetchingTime else { break }
            guard mustGo || isFree(entry, now: now) else { continue }
            found.append(job)
            left -= 1
        }
        return found
    }

    /// The job that ended first of those that nobody fetches.
    func oldest(now: Duration) -> JobID? {
        order.first { job in entries[job].map { isFree($0, now: now) } ?? false }
    }

    /// When the next of them may be forgotten because nobody fetches it any more; `nil` where there is none.
    ///
    /// - Parameter limit: how many are looked at.
    func nextFree(among limit: Int) -> Duration? {
        order.lazy.compactMap { entries[$0] }.prefix(limit).map { max($0.endedAt, $0.usedAt) + EndedJobs.fetchingTime }
            .min()
    }

    private func isFree(_ entry: Entry, now: Duration) -> Bool {
        now - max(entry.endedAt, entry.usedAt) >= EndedJobs.fetchingTime
    }
}
