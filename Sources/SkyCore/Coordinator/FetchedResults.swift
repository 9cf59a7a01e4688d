import NIOPosix
import Transport

/// The results of the jobs that somebody asked for recently. They are taken from a job's plan or read from the journal once, and handed
/// out in pages.
struct FetchedResults {
    typealias Entry = any JobResults

    private var entries: [(job: JobID, entry: Entry, took: Duration?)] = []
    /// The jobs whose results are being read, and how many callers wait for each.
    private var underWay: [JobID: (task: Task<Entry, any Error>, waiting: Int)] = [:]

    /// Limits of what is kept: as many jobs as a command fetches at a time (`ScanBatch.widths`), if they are not too large
    /// together.
    private static let limit = (jobs: 64, bytes: 256 << 20)

    subscript(job: JobID) -> Entry? { entries.first { $0.job == job }?.entry }

    /// How long it took to read and assemble the results of a job; `nil` for a job whose results are not kept.
    func duration(of job: JobID) -> Duration? { entries.first { $0.job == job }?.took }

    /// Reads and assembles the results of a job.
    ///
    /// - Throws: `RemoteError` where the stored results cannot be read or are incomplete.
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
        return try await assemble(replay.plan)
    }

    /// Assembles the results that a plan has. This takes a while for a crowded image, so it runs in a thread of its own.
    static func assemble(_ plan: any JobPlan) async throws -> Entry {
        try await NIOThreadPool.singleton.runIfActive { plan.results }
    }

    /// The task that reads a job's results now.
    func reading(_ job: JobID) -> Task<Entry, any Error>? { underWay[job]?.task }

    /// Records that one more caller waits for a task that reads a job's results.
    mutating func begin(_ job: JobID, _ task: Task<Entry, any Error>) {
        underWay[job] = (task, (underWay[job]?.waiting ?? 0) + 1)
    }

    /// Records that one of these callers has its answer.
    mutating func end(_ job: JobID, _ task: Task<Entry, any Error>) {
        guard let known = underWay[job], known.task == task else { return }
        underWay[job] = known.waiting > 1 ? (task, known.waiting - 1) : nil
    }

    /// - Parameter took: how long it took to read and assemble them.
    mutating func insert(_ job: JobID, _ entry: Entry, took: Duration? = nil) {
        forget(job)
        entries.append((job, entry, took))
        var bytes = entries.reduce(0) { $0 + $1.entry.byteCount }
        // The newest entry is kept however large it is, because somebody fetches it page by page.
        while entries.count > 1, entries.count > FetchedResults.limit.jobs || bytes > FetchedResults.limit.bytes {
            bytes -= entries.removeFirst().entry.byteCount
        }
    }

    mutating func forget(_ job: JobID) { entries.removeAll { $0.job == job } }

    /// Releases all results that are kept. Those that are being read are not affected.
    mutating func removeAll() { entries = [] }
}
