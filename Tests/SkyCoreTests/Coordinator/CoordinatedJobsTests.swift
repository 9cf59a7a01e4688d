import Base
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// The jobs of a coordinator, and what happens to their results.
@Suite struct CoordinatedJobsTests {
    private func id(_ number: UInt64) -> JobID { JobID(rawValue: number) }

    private func attempt(_ job: JobID, _ task: Int, number: Int = 1) -> AttemptID {
        AttemptID(job: job, task: TaskID(task), number: number, generation: 1)
    }

    /// Submits a job.
    ///
    /// - Returns: its own id where it is new, and that of the earlier one where its token is known.
    @discardableResult private func submit(
        _ request: JobRequest, token: String? = nil, as number: UInt64, at now: Duration = .zero,
        to jobs: inout CoordinatedJobs
    ) throws -> JobID {
        switch try jobs.submit(request, token: token, as: id(number), now: now, wall: 0) {
        case .new(let stored): stored.id
        case .known(let known): known
        }
    }

    private func end(_ job: JobID, at now: Duration = .zero, in jobs: inout CoordinatedJobs) -> JobReport? {
        jobs.end(job, JobOutcome(), now: now, wall: 0)
    }

    @Test func `a repeated token names the same job until that job is deleted`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        let request = CoordinatorStory.simulation(1)
        let ids = try [1, 2].map { try submit(request, token: "t", as: $0, to: &jobs) }
        #expect(ids == [id(1), id(1)] && jobs.order == [id(1)] && jobs.activeCount == 1)
        #expect(throws: SkyError(.badInput, "the token belongs to job \(id(1)), which was asked for something else")) {
            try submit(CoordinatorStory.simulation(2), token: "t", as: 3, to: &jobs)
        }
        _ = end(id(1), in: &jobs)
        #expect(try submit(request, token: "t", as: 4, to: &jobs) == id(1), "also when it has ended")
        let isKnown = [jobs.remove(id(1)), jobs.remove(id(1))]
        #expect(isKnown == [true, false])
        #expect(try submit(request, token: "t", as: 5, to: &jobs) == id(5))
    }

    @Test func `overdue jobs are named once, earliest deadline first, without those that have ended`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        for (number, deadline) in [(1, 30), (2, 10), (3, 20)] as [(UInt64, Int)] {
            var request = CoordinatorStory.simulation(1)
            request.deadline = .seconds(deadline)
            try submit(request, as: number, at: .seconds(5), to: &jobs)
        }
        _ = end(id(3), in: &jobs)
        #expect(jobs.nextDeadline == .seconds(15))
        #expect(jobs.nextOverdue(now: .seconds(14)) == nil)
        let overdue = jobs.nextOverdue(now: .seconds(35))
        #expect(overdue?.job == id(2) && overdue?.deadline == .seconds(10))
        #expect(jobs.nextOverdue(now: .seconds(35))?.job == id(1))
        #expect(jobs.nextOverdue(now: .seconds(35)) == nil && jobs.nextDeadline == nil)
    }

    @Test func `a result counts once, and a cached result belongs to no node`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        let job = try submit(CoordinatorStory.simulation(3), as: 1, to: &jobs)
        let (run, cached) = (attempt(job, 0), attempt(job, 1, number: 0))
        for attempt in [run, cached] {
            guard case .kept = jobs.keep(ByteBuffer(), of: attempt, took: .seconds(2), isComparable: true) else {
                Issue.record("any result is good enough for a simulation")
                continue
            }
        }
        let firstResult = jobs.commit(run, by: "one")
        let first = try #require(firstResult)
        #expect(first.stored.node == "one" && first.stored.duration == .seconds(2))
        #expect(jobs.commit(run, by: "one") == nil, "it has been committed")
        #expect(jobs.commit(cached, by: "one")?.stored.node == "")
        _ = jobs.keep(ByteBuffer(), of: attempt(job, 2), took: .zero, isComparable: true)
        jobs.drop(attempt(job, 2))
        #expect(jobs.commit(attempt(job, 2), by: "one") == nil, "it was dropped")
        #expect(jobs.counts.completed == 1 && jobs.counts.cached == 1)
        #expect(jobs[job]?.decided.completed == 2 && jobs[job]?.published.completed == 0, "nothing is stored yet")
    }

    @Test func `results that a plan does not use are kept only if they are small`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        let job = try submit(CoordinatorStory.simulation(2), as: 1, to: &jobs)
        for (task, size) in [(0, 64), (1, 65)] {
            _ = jobs.keep(
                ByteBuffer(repeating: 0, count: size), of: attempt(job, task), took: .zero, isComparable: true)
        }
        #expect(jobs.commit(attempt(job, 0), by: "one")?.stored.payload.readableBytes == 64)
        #expect(jobs.commit(attempt(job, 1), by: "one")?.stored.payload.readableBytes == 0)
    }

    @Test func `a result that its plan cannot use is not kept`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        let job = try submit(CoordinatorStory.scan(), as: 1, to: &jobs)
        _ = jobs.beginPlan(of: job)
        let info = ImageInfo(width: 64, height: 64, bitpix: -32, hdu: 0, hasWCS: false)
        let payload = try WireCoder.encode(TaskResult.sky(.inspected(info)))
        let other = try WireCoder.encode(TaskResult.sky(.extracted(SectorResult(sector: 0))))
        func take(_ payload: ByteBuffer, isComparable: Bool = true) -> CoordinatedJobs.Verdict {
            jobs.keep(payload, of: attempt(job, 0), took: .zero, isComparable: isComparable)
        }
        #expect(take(payload, isComparable: false) == .unusable)
        #expect(take(ByteBuffer(bytes: [1, 2, 3])) == .unusable)
        #expect(take(other) == .wrong)
        #expect(jobs.commit(attempt(job, 0), by: "one") == nil)
        #expect(take(payload) == .kept)
        let result = jobs.commit(attempt(job, 0), by: "one")
        let committed = try #require(result)
        let step = jobs.advancePlan(of: job, committed.stored, try #require(committed.value))
        #expect(step?.newTasks == 1, "the background of its one sector")
    }

    /// A scan of an image of one sector, done on two nodes, with so many sources.
    private func scan(as number: UInt64, sources: Int, in jobs: inout CoordinatedJobs) throws -> JobID {
        let job = try submit(CoordinatorStory.scan(), as: number, to: &jobs)
        _ = jobs.beginPlan(of: job)
        let info = ImageInfo(width: 64, height: 64, bitpix: -32, hdu: 0, hasWCS: false)
        let plan = try #require(jobs[job]?.plan as? SkyPlan)
        let sector = try #require(SectorGrid(info: info, configuration: plan.phases.given).sectors.first)
        let tile = try BackgroundTile(
            pixels: [Float](repeating: 100, count: 4096), sector: sector, configuration: plan.phases.given)
        let found = (0..<sources).map { number in
            let (row, column) = number.quotientAndRemainder(dividingBy: 60)
            return Source(x: Double(column), y: Double(row), sector: 0)
        }
        let results: [SkyResult] = [
            .inspected(info), .background(tile), .extracted(SectorResult(sector: 0, sources: found)),
        ]
        for (task, result) in results.enumerated() {
            let payload = try WireCoder.encode(TaskResult.sky(result))
            #expect(jobs.keep(payload, of: attempt(job, task), took: .seconds(1), isComparable: true) == .kept)
            let committed = jobs.commit(attempt(job, task), by: task == 2 ? "two" : "one")
            let (stored, value) = try #require(committed)
            let step = jobs.advancePlan(of: job, stored, try #require(value))
            #expect(try #require(step).abort == nil)
        }
        return job
    }

    @Test func `whoever asks first for the results of a scan that was done gets those that the plan has`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        let job = try scan(as: 1, sources: 5, in: &jobs)
        #expect(jobs.takeResults(of: job) == nil, "it goes on")
        _ = end(job, in: &jobs)
        let taken = jobs.takeResults(of: job)
        let results = try #require(taken?.results as? ScanResults)
        #expect(results.catalogue?.sources.count == 5)
        #expect(results.runs.map(\.node) == ["two"] && results.runs.map(\.duration) == [.seconds(1)])
        #expect(jobs.takeResults(of: job) == nil)
        #expect(
            (jobs[job]?.plan.results as? ScanResults)?.catalogue?.sources.isEmpty == true, "they are gone from memory")

        let others = try (2...3).map { try scan(as: $0, sources: 1, in: &jobs) }
        jobs.abort(others[0], SkyError(.failed, "too bad"))
        for other in others { _ = end(other, in: &jobs) }
        #expect(jobs.takeResults(of: others[0]) == nil, "it has failed")
        jobs.releaseResults()
        #expect(jobs.takeResults(of: others[1]) == nil)
        let simulation = try submit(CoordinatorStory.simulation(1), as: 4, to: &jobs)
        _ = end(simulation, in: &jobs)
        #expect(jobs.takeResults(of: simulation) == nil, "there is nothing to fetch")
    }

    @Test func `results that nobody asks for are bounded`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        let limit = CoordinatedJobs.unfetchedLimit
        let ended = try (1...UInt64(limit.jobs + 1)).map { try scan(as: $0, sources: 1, in: &jobs) }
        for job in ended { _ = end(job, in: &jobs) }
        #expect(jobs.takeResults(of: ended[0]) == nil)
        _ = jobs.remove(ended[1])
        #expect(jobs.takeResults(of: ended[1]) == nil)
        #expect(jobs.takeResults(of: ended[2]) != nil)

        jobs = CoordinatedJobs(ranBefore: .zero)
        let small = try scan(as: 1, sources: 1, in: &jobs)
        let large = try scan(as: 2, sources: 3000, in: &jobs)
        let bytes = try #require(jobs[large]?.resultBytes)
        #expect(bytes > 3000 * 100)
        for job in [small, large] { _ = end(job, in: &jobs) }
        for number in 0..<UInt64(limit.bytes / bytes) {
            let other = try scan(as: 3 + number, sources: 3000, in: &jobs)
            _ = end(other, in: &jobs)
        }
        #expect(jobs.takeResults(of: small) == nil)
        #expect(jobs.takeResults(of: large) == nil)
        #expect(jobs.takeResults(of: id(2 + UInt64(limit.bytes / bytes))) != nil)
    }

    @Test func `a job ends once, and others see its end when it is published`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        let job = try submit(CoordinatorStory.simulation(1), as: 1, at: .seconds(2), to: &jobs)
        let report = try #require(end(job, at: .seconds(5), in: &jobs))
        #expect(report.duration == .seconds(3) && report.state == .done && jobs.activeCount == 0)
        #expect(end(job, in: &jobs) == nil)
        #expect(jobs.ended.count == 0 && jobs[job]?.published.report == nil)
        let isKnown = [job, id(9)].map { jobs.publish(.ended(report), of: $0, at: .seconds(5)) }
        #expect(isKnown == [true, false])
        #expect(jobs.ended.count == 1 && jobs[job]?.published.report != nil)
    }

    @Test func `a job that is given up has a reason`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        for (number, kind) in [(1, SkyError.Kind.failed), (2, .badInput)] as [(UInt64, SkyError.Kind)] {
            let job = try submit(CoordinatorStory.simulation(1), as: number, to: &jobs)
            jobs.abort(job, SkyError(kind, "too bad"))
            let report = try #require(end(job, in: &jobs))
            #expect(report.state == (kind == .failed ? .failed : .badInput) && report.reason == "too bad")
        }
    }

    @Test func `failures are counted against the number that a job allows`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        var request = CoordinatorStory.simulation(3)
        request.allowedFailures = 1
        let job = try submit(request, as: 1, to: &jobs)
        _ = jobs.beginPlan(of: job)
        jobs.markBadInput(attempt(job, 1))
        let failures = try (0..<2).map { task in
            #expect(jobs.exceededFailures(job) == nil)
            let failure = jobs.fail(job, TaskID(task), "too bad")
            return try #require(failure).stored
        }
        #expect(failures.map(\.isBadInput) == [false, true])
        #expect(jobs.exceededFailures(job) == 1 && jobs.counts.failed == 2)
        #expect(jobs.fail(id(9), 0, "too bad") == nil, "the job is unknown")
    }

    @Test func `cached results are accepted for the searched tasks only, in order`() throws {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        let job = try submit(CoordinatorStory.scan(), as: 1, to: &jobs)
        _ = jobs.beginPlan(of: job)
        let info = ImageInfo(width: 64, height: 64, bitpix: -32, hdu: 0, hasWCS: false)
        let payload = try WireCoder.encode(TaskResult.sky(.inspected(info)))
        func take(_ tasks: Range<Int>) -> (answered: [TaskID], isLast: Bool)? {
            jobs.takeFound([TaskID(tasks.lowerBound): payload], for: tasks, of: job, generation: 1)
        }
        #expect(take(0..<1) == nil, "no search is under way")
        jobs.beginSearch(for: 0..<3, of: job, isLast: true)
        #expect(take(1..<2) == nil, "the first is not there yet")
        let first = try #require(take(0..<1))
        #expect(first.answered == [0] && !first.isLast)
        #expect(take(0..<1) == nil, "it has been found")
        let last = try #require(take(1..<3))
        #expect(last.answered.isEmpty, "a header is no answer to another task")
        #expect(last.isLast && take(3..<4) == nil)
    }
}
