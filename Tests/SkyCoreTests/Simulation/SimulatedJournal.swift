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

    mutating func beginIncarnation() -> CoordinatorIncarnation {
        generation += 1
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

    func replay(_ job: StoredJob) -> JobReplay {
        var replay = JobReplay(job.request)
        for result in (results[job.id] ?? [:]).sorted(by: { $0.key < $1.key }) { replay.complete(with: result.value) }
        for failure in (failures[job.id] ?? [:]).sorted(by: { $0.key < $1.key }) { replay.fail(with: failure.value) }
        replay.risks = (risks[job.id] ?? []).filter {
            results[job.id]?[$0.task.index] == nil && failures[job.id]?[$0.task.index] == nil
        }
        replay.isRisky = generation > 1
        return replay
    }

    private mutating func expect(_ holds: Bool, _ complaint: @autoclosure () -> String) {
        if !holds { violations.append(complaint()) }
    }
}
