import Distributed
import Transport

extension Coordinator {
    /// The results of a job that has ended.
    ///
    /// - Throws: `RemoteError` for a job that is not known here, or that still goes on.
    package func results(of job: JobID) async throws -> any JobResults {
        guard let record = core.jobs[job] else { throw unknown(job) }
        guard record.published.report != nil else { throw RemoteError(.failed, "job \(job) has not ended") }
        fetches += 1
        updateCore { $0.use(job) }
        if let found = fetched[job] { return found }
        // Callers that ask while the results are being read wait for the same read.
        let reading = fetched.reading(job) ?? read(record)
        let began = ContinuousClock.now
        fetched.begin(job, reading)
        let result = await reading.result
        fetched.end(job, reading)
        let entry = try result.get()
        // The job may have been deleted meanwhile. Its results must not be kept then.
        guard core.jobs[job] != nil else { throw unknown(job) }
        fetched.insert(job, entry, took: began.duration(to: .now))
        return entry
    }

    /// How long it took to read and put together the results of a job; `nil` where they are not kept.
    func mergeTime(of job: JobID) -> Duration? { fetched.duration(of: job) }

    /// What a job's results were measured by. A job that has ended may be of an earlier program.
    func arithmetic(of job: JobID) -> String? { core.jobs[job]?.stored.program }

    private func read(_ record: CoordinatedJob) -> Task<FetchedResults.Entry, any Error> {
        var plan: (any JobPlan)?
        updateCore { plan = $0.jobs.takeResults(of: record.id) }
        return Task { [journal, plan] in
            if let plan { return try await FetchedResults.assemble(plan) }
            return try await FetchedResults.read(record, from: journal)
        }
    }
}
