import NIOPosix
import Transport

/// What jobs came to that somebody asked about of late: read from the journal once, handed out in pages.
struct FetchedResults {
    typealias Entry = any JobResults

    private var entries: [(job: JobID, entry: Entry)] = []
    /// Those that are being read, and how many wait for each.
    private var underWay: [JobID: (task: Task<Entry, any Error>, waiting: Int)] = [:]

    /// Jobs kept: as many as a command fetches at a time (`ScanBatch.widths`), if they are not too large together.
    private static let limit = (jobs: 64, bytes: 256 << 20)

    subscript(job: JobID) -> Entry? { entries.first { $0.job == job }?.entry }

    /// What a job came to, put together: of a crowded image that takes a while, so that it is done in a thread of its own.
    ///
    /// - Throws: `RemoteError` where what is stored cannot be read, or is not all that the job came to.
    static func read(_ record: CoordinatedJob, from journal: Journal) async throws -> Entry {
        let replay: JobReplay
        do {
            replay = try await journal.replay(record.stored)
        } catch {
            throw RemoteError(.failed, error.message)
        }
        if let report = record.published.report,
            replay.published.completed != report.completed || replay.published.failed != report.failed
        {
            throw RemoteError(
                .failed,
                "what is stored of job \(record.id) is damaged: \(report.completed) tasks were completed, and the results of "
                    + "\(replay.published.completed) are left; submit it once more")
        }
        if let damage = replay.damage { throw RemoteError(.failed, "job \(record.id): \(damage); submit it once more") }
        return try await NIOThreadPool.singleton.runIfActive { replay.plan.results }
    }

    /// What reads a job's results at this moment.
    func reading(_ job: JobID) -> Task<Entry, any Error>? { underWay[job]?.task }

    /// One more waits for a task that reads a job's results.
    mutating func begin(_ job: JobID, _ task: Task<Entry, any Error>) {
        underWay[job] = (task, (underWay[job]?.waiting ?? 0) + 1)
    }

    /// One of those has its answer.
    mutating func end(_ job: JobID, _ task: Task<Entry, any Error>) {
        guard let known = underWay[job], known.task == task else { return }
        underWay[job] = known.waiting > 1 ? (task, known.waiting - 1) : nil
    }

    mutating func insert(_ job: JobID, _ entry: Entry) {
        forget(job)
        entries.append((job, entry))
        var bytes = entries.reduce(0) { $0 + $1.entry.byteCount }
        // The newest is kept however large it is: somebody fetches it page by page.
        while entries.count > 1, entries.count > FetchedResults.limit.jobs || bytes > FetchedResults.limit.bytes {
            bytes -= entries.removeFirst().entry.byteCount
        }
    }

    mutating func forget(_ job: JobID) { entries.removeAll { $0.job == job } }

    /// Lets go of all that nobody reads now.
    mutating func removeAll() { entries = [] }
}
