extension Journal {
    /// Results read at a time.
    private static let page = 10_000

    /// A job's plan after all that is stored of it.
    func replay(_ job: StoredJob) async throws(JournalError) -> JobReplay {
        var replay = JobReplay(job.request)
        let page = replay.plan.needsResults ? 16 : Journal.page
        var next = 0
        while true {
            let results = try await results(
                of: job.id, from: next, count: page, withPayloads: replay.plan.needsResults)
            for result in results { replay.take(result) }
            guard let last = results.last, results.count == page else { break }
            next = last.task.index + 1
        }
        for failure in try await failures(of: job.id) { replay.take(failure) }
        replay.risks = try await risks(of: job.id)
        replay.isRisky = !wasClosed
        return replay
    }
}
