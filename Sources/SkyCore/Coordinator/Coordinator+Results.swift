import Distributed
import Transport

extension Coordinator {
    /// What a job came to that has ended.
    ///
    /// - Throws: `RemoteError` for a job that is not known here, or goes on.
    func results(of job: JobID) async throws -> FetchedResults.Entry {
        guard let record = core.jobs[job] else { throw unknown(job) }
        guard record.published.report != nil else { throw RemoteError(.failed, "job \(job) has not ended") }
        fetches += 1
        updateCore { $0.use(job) }
        if let found = fetched[job] { return found }
        // Whoever asks while they are read waits for the same.
        let reading = fetched.reading(job) ?? Task { [journal] in try await FetchedResults.read(record, from: journal) }
        fetched.begin(job, reading)
        let result = await reading.result
        fetched.end(job, reading)
        let entry = try result.get()
        // It may have been deleted meanwhile, and then must not be kept.
        guard core.jobs[job] != nil else { throw unknown(job) }
        fetched.insert(job, entry)
        return entry
    }
}
