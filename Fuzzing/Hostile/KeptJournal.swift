@testable import SkyCore

/// What a journal keeps, without the database, for the code that decides with it.
struct KeptJournal {
    private(set) var jobs: [StoredJob] = []
    private(set) var results: [JobID: [Int: StoredResult]] = [:]
    private(set) var failures: [JobID: [Int: StoredFailure]] = [:]
    private(set) var risks: [JobID: [TaskRisk]] = [:]

    mutating func append(_ entry: JournalEntry) {
        switch entry {
        case .submitted(var job):
            // A row has the request alone.
            job.encodedRequest = nil
            jobs.append(job)
        case .result(let result):
            require(
                results[result.job]?[result.task.index] == nil, "a result is stored once: \(result.job)/\(result.task)")
            require(failures[result.job]?[result.task.index] == nil, "a task that failed has no result: \(result.task)")
            results[result.job, default: [:]][result.task.index] = result
        case .failed(let job, let failure):
            let task = failure.task
            require(failures[job]?[task.index] == nil, "a failure is stored once: \(job)/\(task)")
            require(results[job]?[task.index] == nil, "a task that is done does not fail: \(job)/\(task)")
            failures[job, default: [:]][task.index] = failure
        case .ended(let job, let report, let time, let ran):
            guard let place = jobs.firstIndex(where: { $0.id == job }) else { return }
            require(jobs[place].report == nil, "a job ends once: \(job)")
            (jobs[place].report, jobs[place].ended, jobs[place].endedRun) = (report, time, ran)
        case .risked(let job, let risk): risks[job, default: []].append(risk)
        case .deleted(let job): forget(job)
        case .restarted(let job, _, _): restart(job)
        }
    }

    mutating func forget(_ job: JobID) {
        jobs.removeAll { $0.id == job }
        restart(job)
    }

    /// Does what the entry `restarted` does.
    mutating func restart(_ job: JobID) { (results[job], failures[job], risks[job]) = (nil, nil, nil) }

    /// Does what `Journal.replay` does.
    func replay(_ job: StoredJob) -> JobReplay {
        var replay = JobReplay(job.request)
        var failures = (failures[job.id] ?? [:]).values.sorted { $0.task < $1.task }[...]
        for result in (results[job.id] ?? [:]).values.sorted(by: { $0.task < $1.task }) {
            while let failure = failures.first, failure.task < result.task { replay.fail(with: failures.removeFirst()) }
            replay.complete(with: result)
        }
        for failure in failures { replay.fail(with: failure) }
        replay.risks = risks[job.id] ?? []
        return replay
    }

    /// Changes the rows to what can stand in a file that somebody else has written, or that a disk has changed. Each column holds
    /// any value that its type can hold, and `StoredJob` and `JobRequest` have checked it.
    mutating func damage(_ input: inout FuzzInput) {
        jobs = jobs.compactMap { job in
            var job = job
            guard let request = input.hostile(job.request), (try? request.validate()) != nil else { return nil }
            job.request = request
            if let report = job.report { job.report = input.bool() ? nil : input.hostile(report) ?? report }
            let choice = input.byte()
            if choice & 1 == 1 { job.submitted = UInt64(clamping: input.hostileInteger()) }
            if choice & 2 == 2 { job.submittedRun = KeptJournal.run(&input) }
            if choice & 4 == 4 { job.endedRun = KeptJournal.run(&input) }
            if choice & 8 == 8 { job.resultsSince = UInt64(clamping: input.hostileInteger()) }
            return job
        }
        guard let job = jobs.first?.id, input.bool() else { return }
        let task = Int(truncatingIfNeeded: input.hostileInteger() & (1 << 31 - 1))
        switch input.byte() & 3 {
        case 0:
            failures[job, default: [:]][task] = StoredFailure(
                task: TaskID(task), reason: input.hostileText(), isBadInput: input.bool())
        case 1:
            let risk = TaskRisk(task: TaskID(task), node: HostileCluster.own, isAlone: input.bool())
            risks[job, default: []] += Array(repeating: risk, count: Int(input.byte() & 31))
        case 2:
            // A page of the file is lost, and with it a result.
            if let lost = results[job]?.keys.min() { results[job]?[lost] = nil }
        default:
            guard let found = results[job]?.values.min(by: { $0.task < $1.task }) else { return }
            var result = found
            (result.task, result.duration) = (TaskID(task), .nanoseconds(max(0, input.hostileInteger())))
            results[job]?[task] = result
        }
    }

    private static func run(_ input: inout FuzzInput) -> Duration? {
        let milliseconds = input.hostileInteger()
        return (0...1000 * 366 * 86_400_000).contains(milliseconds) ? .milliseconds(milliseconds) : nil
    }
}
