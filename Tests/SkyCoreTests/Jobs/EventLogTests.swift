import NIOCore
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

@Suite struct EventLogTests {
    @Test func `events are numbered and returned from the requested position`() {
        var log = EventLog()
        for number in 0..<10 { log.append(.failed(task: "\(number)", reason: ""), time: .zero) }
        #expect(log.events(from: 7, count: 100).map(\.number) == [7, 8, 9])
        #expect(log.events(from: 2, count: 3).map(\.number) == [2, 3, 4])
        #expect(log.events(from: 10, count: 5).isEmpty)
    }

    @Test func `absurd positions give nothing or everything, and never trap`() {
        var log = EventLog()
        log.append(.failed(task: "", reason: ""), time: .zero)
        #expect(log.events(from: .min, count: .max).count <= 1)
        #expect(log.events(from: .max, count: 1).isEmpty)
        #expect(log.events(from: 0, count: .min).isEmpty)
    }

    @Test func `a long history is cut at its old end, and the numbers go on`() {
        var log = EventLog()
        for _ in 0..<100_000 { log.append(.failed(task: "", reason: ""), time: .zero) }
        let kept = log.events(from: 0, count: 100_000)
        #expect(kept.count <= 2 * EventLog.limit && kept.count >= EventLog.limit)
        #expect(kept.last?.number == 99_999)
        #expect(log.nextNumber == 100_000)
    }

    private func stored(_ task: Int) -> StoredResult {
        StoredResult(job: JobID(rawValue: 7), task: TaskID(task), node: "anna", duration: .zero, payload: ByteBuffer())
    }

    @Test
    func `a restored history has the ends of all tasks that are stored, and a watcher lacks none and has none twice`() {
        var replay = JobReplay(JobRequest(.simulate(SimulateRequest(tasks: 10, duration: .zero))))
        for task in [0, 1, 4] { replay.complete(with: stored(task)) }
        replay.fail(with: StoredFailure(task: 5, reason: "worn out", isBadInput: false))
        let log = replay.log(at: .seconds(3))
        let events = log.events(from: 0, count: 100)
        #expect(events.map(\.task) == [0, 1, 4, 5] && log.firstOwn == 4 && !log.isUnread)
        #expect(events.map(\.number) == [0, 1, 2, 3] && events.allSatisfy { $0.time == .seconds(3) })
        guard case .completed("task 5", "anna") = events[2].kind, case .failed("task 6", "worn out") = events[3].kind
        else {
            Issue.record("\(events)")
            return
        }
        var seen = SeenEvents()
        let first = [1, 4].map { seen.insert(JobEvent(number: $0, time: .zero, kind: events[0].kind, task: $0)) }
        #expect(first == [true, true])
        #expect(events.filter { seen.insert($0) }.map(\.task) == [0, 5])
        #expect("\(seen)" == "0-1,4-5" && SeenEvents("\(seen)")?.description == "0-1,4-5")
    }

    @Test func `a long restored history is cut at its old end`() {
        var replay = JobReplay(JobRequest(.simulate(SimulateRequest(tasks: 100_000, duration: .zero))))
        for task in 0..<100_000 { replay.complete(with: stored(task)) }
        let events = replay.log(at: .zero).events(from: 0, count: .max)
        #expect(events.count >= EventLog.limit && events.count <= 2 * EventLog.limit)
        #expect(events.last?.task == 99_999)
    }

    @Test func `the history of a job that had ended is read once somebody asks, and of few jobs at a time`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        let request = JobRequest(.simulate(SimulateRequest(tasks: 2, duration: .zero)))
        let report = JobReport(
            state: .done, scheduled: 2, completed: 2, failed: 0, retries: 0, duration: .seconds(1), nodes: [])
        for number in 1...20 as ClosedRange<UInt64> {
            var job = StoredJob(id: JobID(rawValue: number), token: nil, request: request, submitted: 0)
            job.report = report
            jobs.restore(job, JobReplay(request), now: .zero, wall: 0)
        }
        func events(_ number: UInt64) -> [Int?] {
            jobs[JobID(rawValue: number)].map { $0.log.events(from: 0, count: 10).map(\.task) } ?? []
        }
        #expect(jobs.isUnread(JobID(rawValue: 1)) && events(1) == [nil])
        var replay = JobReplay(request)
        for task in 0..<2 { replay.complete(with: stored(task)) }
        jobs.readHistory(of: JobID(rawValue: 1), replay)
        #expect(!jobs.isUnread(JobID(rawValue: 1)) && events(1) == [0, 1, nil])
        jobs.readHistory(of: JobID(rawValue: 2), nil)
        #expect(!jobs.isUnread(JobID(rawValue: 2)) && events(2) == [nil], "what is stored of it is damaged")
        for number in 3...20 as ClosedRange<UInt64> { jobs.readHistory(of: JobID(rawValue: number), replay) }
        #expect(jobs.isUnread(JobID(rawValue: 1)), "it can be read again")
        #expect((1...20).count { !jobs.isUnread(JobID(rawValue: $0)) } <= 8)
    }

    @Test func `absurd tasks are shown, and remembered in bounds`() {
        var seen = SeenEvents()
        for task in [-1, Int.min, Int.max, TaskID.countLimit] {
            let isNew = seen.insert(JobEvent(number: 0, time: .zero, kind: .failed(task: "", reason: ""), task: task))
            #expect(isNew)
        }
        #expect("\(seen)" == "")
        for task in 0..<100 {
            _ = seen.insert(JobEvent(number: 0, time: .zero, kind: .failed(task: "", reason: ""), task: 2 * task))
        }
        #expect("\(seen)".split(separator: ",").count == 32)
    }

    @Test func `every n-th simulated task fails its first attempt`() {
        var request = SimulateRequest(tasks: 20, duration: .seconds(1))
        request.failEvery = 10
        let plan = SimulatePlan(request: request)
        let failing = (0..<20).filter { plan.task($0)?.rehearsal.failsFirstAttempt == true }
        #expect(failing == [9, 19])
        #expect(plan.task(20) == nil && plan.task(-1) == nil)
    }
}
