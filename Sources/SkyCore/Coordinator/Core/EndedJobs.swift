import DequeModule

/// The jobs that have ended, in the order of their ends, and which of them may be forgotten. It is a value without a clock. Times
/// count from the coordinator's start, and earlier times are negative.
///
/// A command that waits for a job's end fetches its results then. So a job is kept for a while after its end, and as long as
/// somebody fetches from it, however many younger jobs have ended meanwhile.
struct EndedJobs {
    private struct Entry {
        var endedAt: Duration
        /// When somebody last fetched results of it.
        var usedAt: Duration
    }

    private var entries: [JobID: Entry] = [:]
    /// The jobs by the time of their end. It may name jobs that are gone.
    private var order: Deque<JobID> = []

    /// How long the results of a job are kept at least for those who waited for its end or fetch them.
    static let fetchingTime = Duration.seconds(60)
    /// Largest number of jobs above the retention count that are kept until that time has passed. A stream of tiny jobs must not
    /// fill the memory.
    static let graceLimit = 10_000

    var count: Int { entries.count }

    mutating func insert(_ job: JobID, endedAt: Duration) {
        guard entries.updateValue(Entry(endedAt: endedAt, usedAt: endedAt), forKey: job) == nil else { return }
        // Jobs of an earlier incarnation are restored in the order of their submission, not of their end.
        var place = order.endIndex
        while place > order.startIndex, let before = entries[order[place - 1]], before.endedAt > endedAt { place -= 1 }
        order.insert(job, at: place)
    }

    /// Somebody fetches results of a job.
    mutating func use(_ job: JobID, now: Duration) { entries[job]?.usedAt = now }

    mutating func remove(_ job: JobID) {
        guard entries.removeValue(forKey: job) != nil else { return }
        if order.count > 2 * entries.count + 16 { order.removeAll { entries[$0] == nil } }
    }

    /// The jobs to forget now: those that ended too long ago, and the first that ended where there are too many.
    func surplus(_ retention: JobRetention, now: Duration) -> [JobID] {
        var found: [JobID] = []
        var left = entries.count
        for job in order {
            guard let entry = entries[job] else { continue }
            let isOld = now - entry.endedAt > retention.age
            // The jobs after this one are younger.
            guard isOld || left > retention.count else { break }
            let mustGo = left > retention.count + EndedJobs.graceLimit
            guard mustGo || now - entry.endedAt >= EndedJobs.fetchingTime else { break }
            guard mustGo || isFree(entry, now: now) else { continue }
            found.append(job)
            left -= 1
        }
        return found
    }

    /// The job that ended first among those that nobody fetches.
    func oldest(now: Duration) -> JobID? {
        order.first { job in entries[job].map { isFree($0, now: now) } ?? false }
    }

    /// When the next job may be forgotten because nobody fetches it any more; `nil` where there is none.
    ///
    /// - Parameter limit: how many jobs are examined.
    func nextFree(among limit: Int) -> Duration? {
        order.lazy.compactMap { entries[$0] }.prefix(limit).map { max($0.endedAt, $0.usedAt) + EndedJobs.fetchingTime }
            .min()
    }

    private func isFree(_ entry: Entry, now: Duration) -> Bool {
        now - max(entry.endedAt, entry.usedAt) >= EndedJobs.fetchingTime
    }
}
