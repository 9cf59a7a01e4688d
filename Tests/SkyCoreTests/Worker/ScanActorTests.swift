import Distributed
import Logging
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

@Suite struct ScanActorTests {
    private func actor() -> ScanActor {
        let workers = WorkerPool(
            executable: "/bin/false", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return ScanActor(
            slots: 1, runner: TaskRunner(workers: workers, allowsCrash: false), leaseDuration: .seconds(3),
            actorSystem: ClusterSystem(ClusterSettings(name: "node")))
    }

    @Test(.timeLimit(.minutes(5)))
    func `the attempts of a silent coordinator are stopped when its lease ends`() async throws {
        let actor = actor()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Sleeps already when the lease is given, as far as a test can tell.
            group.addTask { await actor.whenLocal { await $0.expireLeases() } }
            await Task.yield()
            let incarnation = CoordinatorIncarnation(CoordinatorID(rawValue: 1), generation: 1)
            #expect(try await actor.reserve(ReserveRequest(incarnation: incarnation, wanted: 1)).slots == 1)
            let endless = ScanTask(.simulate(Simulation(duration: .seconds(600))), label: "")
            let attempt = AttemptID(job: JobID(rawValue: 1), task: TaskID(0), number: 1)
            try await actor.assign(
                Assignment(
                    incarnation: incarnation,
                    attempts: [RunRequest(attempt: attempt, task: endless, timeLimit: .seconds(600))]))
            #expect(await actor.whenLocal { $0.running } == 1)
            let idle = try #require(await actor.whenLocal { $0.finish().idle })
            await idle.wait()
            group.cancelAll()
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a coordinator that has no lease yet waits for its next result`() async throws {
        let actor = actor()
        let incarnation = CoordinatorIncarnation(CoordinatorID(rawValue: 1), generation: 1)
        func request(isFirst: Bool) -> CollectRequest {
            CollectRequest(
                incarnation: incarnation, received: 0, acknowledged: 0, fencingToken: 0, isFirst: isFirst, proof: nil)
        }
        #expect(try await actor.collect(request(isFirst: true)).lease == nil)
        // It runs until it waits. If it did not, it would come back with nothing.
        let next = Task.immediate { try await actor.collect(request(isFirst: false)) }
        #expect(try await actor.reserve(ReserveRequest(incarnation: incarnation, wanted: 1)).slots == 1)
        let task = ScanTask(.simulate(Simulation(duration: .zero)), label: "")
        let attempt = AttemptID(job: JobID(rawValue: 1), task: TaskID(0), number: 1)
        try await actor.assign(
            Assignment(
                incarnation: incarnation,
                attempts: [RunRequest(attempt: attempt, task: task, timeLimit: .seconds(600))]))
        let reply = try await next.value
        #expect(reply.results.map(\.attempt) == [attempt] && reply.lease?.slots == 1)
    }
}
