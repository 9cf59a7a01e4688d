extension Journal {
    /// How many results are read at a time.
    private static let page = 10_000

    /// A job's plan, after it has taken everything that is stored of the job.
    ///
    /// - Parameter progress: is called again and again.
    /// - Throws: `JournalError` of the kind `.damagedJob` if the stored data cannot be the job's.
    func replay(
        _ job: StoredJob, progress: @Sendable () -> Void = {}
    ) async throws(JournalError) -> JobReplay {
        var replay = JobReplay(job.request)
        let page = replay.plan.needsResults ? 16 : Journal.page
        var next = 0
        // The order is that of tasks, because a plan's later tasks follow from the results of the earlier ones.
        var failures = try await failures(of: job.id).sorted { $0.task < $1.task }[...]
        while true {
            progress()
            let results = try await results(
                of: job.id, from: next, count: page, withPayloads: replay.plan.needsResults)
            for result in results {
                while let failure = failures.first, failure.task < result.task {
                    replay.fail(with: failures.removeFirst())
                }
                replay.complete(with: result)
            }
            guard let last = results.last, results.count == page else { break }
            next = last.task.index + 1
        }
        for failure in failures { replay.fail(with: failure) }
        if let stray = replay.strayTask {
            throw JournalError(
                .damagedJob, "something is stored of its task \(stray.index + 1), which it does not have")
        }
        replay.risks = try await risks(of: job.id)
        replay.isRisky = !wasClosed
        return replay
    }
}
