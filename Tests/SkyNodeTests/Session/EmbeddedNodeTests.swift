import ArgumentParser
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import SkyCore
@testable import SkyJobs
@testable import SkyNode
@testable import Transport

/// Jobs of a command that has a node inside itself: in this process, without sockets.
@Suite(.timeLimit(.minutes(2))) struct EmbeddedNodeTests {
    /// Runs `body` with the coordinator of such a node.
    private func with<Result: Sendable>(
        _ body: @escaping @Sendable (CoordinatorConnection) async throws -> Result
    ) async throws -> Result {
        try await ClusterSession.with(try ClusterOptions.parse(["--alone"]), body)
    }

    /// A node that is not needed at once, with a worker's program that ends at once.
    private func node(early: Submission, beside: @escaping @Sendable () async -> Void = {}) throws -> EmbeddedNode {
        EmbeddedNode(
            try ClusterOptions.parse([]), early: EmbeddedNode.EarlyWork(submission: early, workers: 2, beside: beside),
            Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, headStart: .zero, executable: "/bin/false")
    }

    @Test func `the first job begins before the command needs the node, and is the one that is submitted then`()
        async throws
    {
        let (first, another) = (submission(tasks: 3, token: "first"), submission())
        let isBeside = Latch()
        let (jobs, listed, report) = try await node(early: first) { isBeside.open() }.with { node in
            node.begin()
            await isBeside.wait()
            let reach = try await node.coordinator()
            let (job, report) = try await JobWatch(coordinator: reach).run(first, interrupts: Interrupts()) { _ in }
            let other = try await JobHandover.start(another, at: reach).job
            return ([job, other], try await reach.call { try await $0.list() }.map(\.id), report)
        }
        #expect(report.state == .done && report.completed == 3)
        #expect(jobs == listed, "the early job is listed once, and was the first")
    }

    @Test func `a node that is not needed stops with its work, whether it was begun or not`() async throws {
        let endless = submission(tasks: 2, seconds: 3600, token: "endless")
        for begins in [true, false] {
            let isStopped = NIOLockedValueBox(false)
            let result = try await node(early: endless) {
                // Ends with the node, and not by itself.
                await Latch().wait()
                isStopped.withLockedValue { $0 = Task.isCancelled }
            }.with { node in
                if begins {
                    _ = try await {
                        node.begin(); return try await node.coordinator()
                    }()
                }
                node.stop()
                return 5
            }
            #expect(result == 5)
            #expect(isStopped.withLockedValue { $0 } == begins)
        }
    }

    private func submission(tasks: Int = 2, seconds: Double = 0, token: String? = nil) -> Submission {
        Submission(JobRequest(.simulate(SimulateRequest(tasks: tasks, duration: .seconds(seconds)))), token: token)
    }

    @Test func `a job is watched from its first event to its last`() async throws {
        let submission = submission(tasks: 3)
        let numbers = NIOLockedValueBox<[Int]>([])
        let report = try await with { reach in
            try await JobWatch(coordinator: reach).run(submission, interrupts: Interrupts()) { batch in
                numbers.withLockedValue { $0 += batch.events.map(\.number) }
            }.report
        }
        #expect(report.state == .done && report.completed == 3)
        #expect(numbers.withLockedValue { $0 } == [0, 1, 2, 3], "each once, in order")
    }

    @Test func `an interrupt cancels the job, and the command waits for its end`() async throws {
        let submission = submission(tasks: 2, seconds: 3600)
        let interrupts = Interrupts()
        let report = try await with { reach in
            try await JobWatch(coordinator: reach).run(submission, interrupts: interrupts) { _ in
                interrupts.interrupt()
            }.report
        }
        #expect(report.state == .cancelled)
        #expect(interrupts.wasInterrupted && interrupts.remains.isEmpty, "nothing goes on")
    }

    @Test func `a job that was submitted elsewhere is watched and not deleted`() async throws {
        let submission = submission(tasks: 2)
        let (report, isThere) = try await with { reach in
            let job = try await JobHandover.start(submission, at: reach).job
            let report = try await JobWatch(coordinator: reach).attach(job, interrupts: nil) { _ in }
            return (report, try await reach.call { try await $0.list() }.contains { $0.id == job })
        }
        #expect(report.state == .done && isThere)
    }

    @Test func `a job submitted twice with the same token is one job`() async throws {
        let once = submission(token: "once")
        let other = submission()
        let jobs = try await with { reach in
            var jobs: [JobID] = []
            for submission in [once, once, other, other] {
                jobs.append(try await JobHandover.start(submission, at: reach).job)
            }
            return jobs
        }
        #expect(jobs[0] == jobs[1] && Set(jobs).count == 3, "without a name each is another one")
    }

    @Test func `a refused job ends the command with its reason`() async throws {
        let submission = submission(tasks: 0)
        let failure = await #expect(throws: CommandFailure.self) {
            try await with { try await JobHandover.start(submission, at: $0).job }
        }
        #expect(failure?.status == .usage && failure?.message?.isEmpty == false, "\(String(describing: failure))")
    }

    @Test func `each of several jobs in a row is deleted before the next`() async throws {
        let submission = submission(tasks: 1)
        let (times, left) = try await with { reach in
            let times = try await RepeatedJobs(coordinator: reach).run(submission, 3, Interrupts())
            return (times.line.jobs, try await reach.call { try await $0.list() }.count)
        }
        #expect(times == 3 && left == 0)
    }

    @Test func `a failed job in a row ends the command`() async throws {
        var request = SimulateRequest(tasks: 1, duration: .zero)
        request.failEvery = 1
        var job = JobRequest(.simulate(request))
        job.options.retries = 0
        let submission = Submission(job)
        let failure = await #expect(throws: CommandFailure.self) {
            try await with { try await RepeatedJobs(coordinator: $0).run(submission, 2, Interrupts()) }
        }
        #expect(failure?.status == .partlyFailed)
    }

    @Test func `a command for the whole cluster works with one node`() async throws {
        let answers = try await with { reach in
            let whole = WholeCluster(coordinator: await reach.coordinator)
            let counts = try await whole.ask { try await $0.list().count }.nodes
            let failures = try await whole.ask { _ -> Int in throw TransportError.deadlineExceeded }.nodes
            return (
                counts.map { try? $0.result.get() },
                failures.map { answer in
                    if case .failure(let silence) = answer.result { silence.reason } else { "an answer" }
                }
            )
        }
        #expect(answers.0 == [0] && answers.1 == ["no answer in time"])
    }
}
