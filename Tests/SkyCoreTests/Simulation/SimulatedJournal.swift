import NIOCore
import Transport

@testable import SkyCore

/// What survives the crash of a coordinator: every entry that was stored, with a complaint where one contradicts another.
struct SimulatedJournal {
    let coordinator: CoordinatorID
    private(set) var generation: UInt64 = 0
    private(set) var jobs: [JobID: StoredJob] = [:]
    private(set) var order: [JobID] = []
    private(set) var results: [JobID: [Int: StoredResult]] = [:]
    private(set) var failures: [JobID: [Int: StoredFailure]] = [:]
    private(set) var risks: [JobID: [TaskRisk]] = [:]
    private(set) var violations: [String] = []

    init(_ coordinator: CoordinatorID) {
        self.coordinator = coordinator
    }

    /// - Parameter term: the term in which the coordinator begins, where there are copies.
    mutating func beginIncarnation(term: UInt64 = 0) -> CoordinatorIncarnation {
        generation = max(generation, term << 32) + 1
        return CoordinatorIncarnation(coordinator, generation: generation)
    }

    mutating func append(_ entries: [JournalEntry]) {
        for entry in entries {
            switch entry {
            case .submitted(var job):
                // A row has the request alone.
                job.encodedRequest = nil
                expect(jobs.updateValue(job, forKey: job.id) == nil, "\(job.id) was submitted twice")
                order.append(job.id)
            case .result(let result):
                let (job, task) = (result.job, result.task.index)
                expect(jobs[job] != nil && jobs[job]?.report == nil, "a result for \(job), which is not open")
                expect(failures[job]?[task] == nil, "\(job)/\(task) failed and has a result")
                expect(results[job, default: [:]].updateValue(result, forKey: task) == nil, "\(job)/\(task) twice")
            case .failed(let job, let failure):
                let task = failure.task
                expect(results[job]?[task.index] == nil, "\(job)/\(task) has a result and failed")
                let earlier = failures[job, default: [:]].updateValue(failure, forKey: task.index)
                expect(earlier == nil && !failure.reason.isEmpty, "\(job)/\(task) failed twice, or without a reason")
            case .ended(let job, let report, let time, let ran):
                expect(jobs[job]?.report == nil, "\(job) ended twice")
                expect(report.completed == results[job]?.count ?? 0, "\(job) miscounts its results")
                expect(report.failed == failures[job]?.count ?? 0, "\(job) miscounts its failures")
                jobs[job]?.report = report
                jobs[job]?.ended = time
                jobs[job]?.endedRun = ran
            case .risked(let job, let risk):
                risks[job, default: []].append(risk)
            case .deleted(let job):
                jobs[job] = nil
                order.removeAll { $0 == job }
                results[job] = nil
                failures[job] = nil
            case .restarted(let job, _, let since):
                (results[job], failures[job], risks[job]) = (nil, nil, nil)
                jobs[job]?.resultsSince = since
            }
        }
    }

    /// - Parameter isRisky: whether the last incarnation did not end in order; `nil` for every one but the first.
    func replay(_ job: StoredJob, isRisky: Bool? = nil) -> JobReplay {
        var replay = JobReplay(job.request)
        for result in (results[job.id] ?? [:]).sorted(by: { $0.key < $1.key }) { replay.complete(with: result.value) }
        for failure in (failures[job.id] ?? [:]).sorted(by: { $0.key < $1.key }) { replay.fail(with: failure.value) }
        replay.risks = (risks[job.id] ?? []).filter {
            results[job.id]?[$0.task.index] == nil && failures[job.id]?[$0.task.index] == nil
        }
        replay.isRisky = isRisky ?? (generation > 1)
        return replay
    }

    // MARK: - Whole copies

    /// Stores entries that may be there already, or may be of jobs that are gone, as those of a whole copy may be.
    mutating func copy(_ entries: [JournalEntry]) {
        for entry in entries {
            switch entry {
            case .submitted(let job): if jobs[job.id] == nil { append([entry]) }
            case .result(let result):
                if jobs[result.job] != nil, results[result.job]?[result.task.index] == nil {
                    results[result.job, default: [:]][result.task.index] = result
                }
            case .failed(let job, let failure):
                if jobs[job] != nil { failures[job, default: [:]][failure.task.index] = failure }
            case .ended(let job, let report, let time, let ran):
                jobs[job]?.report = report
                jobs[job]?.ended = time
                jobs[job]?.endedRun = ran
            case .risked(let job, let risk):
                risks[job]?.removeAll { $0.task == risk.task }
                if jobs[job] != nil { risks[job, default: []].append(risk) }
            case .deleted, .restarted: append([entry])
            }
        }
    }

    /// Everything that is stored of some jobs, from a number on, and the number with which the next page begins.
    func page(from cursor: UInt64) -> (entries: [JournalEntry], next: UInt64?) {
        let ids = order.filter { $0.rawValue >= cursor }.sorted()
        var entries: [JournalEntry] = []
        for id in ids.prefix(2) {
            guard var job = jobs[id] else { continue }
            let (report, ended, run) = (job.report, job.ended, job.endedRun)
            (job.report, job.ended, job.endedRun) = (nil, nil, nil)
            entries.append(.submitted(job))
            entries += (results[id] ?? [:]).sorted { $0.key < $1.key }.map { .result($0.value) }
            entries += (failures[id] ?? [:]).sorted { $0.key < $1.key }.map { .failed(id, $0.value) }
            entries += (risks[id] ?? []).map { .risked(id, $0) }
            if let report { entries.append(.ended(id, report, at: ended ?? 0, ran: run ?? .zero)) }
        }
        return (entries, ids.dropFirst(2).first?.rawValue)
    }

    /// Whether two journals hold the same jobs with the same results.
    func holdsSame(as other: SimulatedJournal) -> Bool {
        guard Set(jobs.keys) == Set(other.jobs.keys) else { return false }
        return jobs.allSatisfy { id, job in
            let (own, others) = (results[id] ?? [:], other.results[id] ?? [:])
            return (job.report == nil) == (other.jobs[id]?.report == nil)
                && own.mapValues { "\($0.node) \($0.duration)" } == others.mapValues { "\($0.node) \($0.duration)" }
                && Set((failures[id] ?? [:]).keys) == Set((other.failures[id] ?? [:]).keys)
        }
    }

    private mutating func expect(_ holds: Bool, _ complaint: @autoclosure () -> String) {
        if !holds { violations.append(complaint()) }
    }
}
