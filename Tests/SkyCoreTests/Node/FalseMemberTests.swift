import Distributed
import Logging
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// A member that has the key and lies, in every field of its answers and of its calls.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FalseMemberTests {
    private func cluster(_ name: String, join: [NodeAddress] = []) -> ClusterSettings {
        var cluster = ClusterSettings(name: name)
        cluster.listen = .hostPort(host: "127.0.0.1", port: 0)
        cluster.join = join
        cluster.silenceLimit = .seconds(30)
        cluster.logger = Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
        return cluster
    }

    /// Runs an honest node with one slot and a false member that the node knows, then `body`.
    private func with(
        _ lie: Lie, _ body: @escaping @Sendable (Node, ClusterSystem) async throws -> Void
    ) async throws {
        let settings = NodeSettings(cluster: cluster("honest"), slots: 1, executable: "/nonexistent/skynode")
        let node = try Node(settings, journal: try Journal.inMemory())
        try await node.start()
        let system = ClusterSystem(cluster("false", join: node.system.listeningAddress.map { [$0] } ?? []))
        let actor = ClusterSystem.withActorName(ScanActor.wellKnownName) { FalseScanActor(lie, actorSystem: system) }
        let (events, ownEvents) = (node.system.membershipEvents(), system.membershipEvents())
        try await system.start()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await node.run() }
            for await event in events { if case .joined = event { break } }
            for await event in ownEvents { if case .joined = event { break } }
            group.addTask { try await body(node, system) }
            do {
                try await group.next()
            } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
        }
        await system.shutdown()
        withExtendedLifetime(actor) {}
    }

    private func report(of job: JobID, at coordinator: Coordinator) async throws -> JobReport {
        var next = 0
        while true {
            try Task.checkCancellation()
            let batch = try await coordinator.events(EventsRequest(job: job, from: next))
            next = batch.next
            for event in batch.events { if case .ended(let report) = event.kind { return report } }
        }
    }

    @Test(arguments: Lie.allCases) func `no answer of a false member stops a job or the coordinator`(lie: Lie)
        async throws
    {
        try await with(lie) { node, _ in
            let request = JobRequest(.simulate(SimulateRequest(tasks: 12, duration: .milliseconds(5))))
            let job = try await node.coordinator.submit(Submission(request))
            let first = try await report(of: job, at: node.coordinator)
            #expect(first.state == .done && first.completed == 12 && first.failed == 0, "\(first)")
            // A second job must work too, whatever the false member has sent by then.
            let second = try await report(
                of: try await node.coordinator.submit(Submission(request)), at: node.coordinator)
            #expect(second.completed == 12)
        }
    }

    @Test func `no call of a false member stops the node`() async throws {
        try await with(.endlessDuration) { node, system in
            let coordinator = try Coordinator.resolve(
                id: ActorAddress(node: node.system.node, name: Coordinator.wellKnownName), using: system)
            let scan = try ScanActor.resolve(
                id: ActorAddress(node: node.system.node, name: ScanActor.wellKnownName), using: system)
            let pixels = try PixelActor.resolve(
                id: ActorAddress(node: node.system.node, name: PixelActor.wellKnownName), using: system)
            let endless = Duration(secondsComponent: .max, attosecondsComponent: 0)
            let job = try await coordinator.submit(
                Submission(JobRequest(.simulate(SimulateRequest(tasks: 1, duration: .zero)))))
            _ = try await report(of: job, at: coordinator)
            for number in [Int.min, -1, .max] {
                _ = try? await coordinator.events(EventsRequest(job: job, from: number))
                for page in ["catalogue", "picture", "sectors", "background", "planes", "compared", "\u{0}"] {
                    _ = try? await coordinator.results(ResultsRequest(job: job, page: page, from: number))
                }
                _ = try? await coordinator.catalogue(CatalogueRequest(job: job, from: number))
                _ = try? await coordinator.compared(ComparedRequest(job: job, from: number))
                var sky = SkyRequest(
                    image: ImageReference(path: "/x.fits", hdu: number), configuration: ScanConfiguration())
                (sky.failSector, sky.pictureSide) = (number, number)
                var request = JobRequest(.sky(sky))
                _ = try? await coordinator.submit(Submission(request))
                request = JobRequest(.simulate(SimulateRequest(tasks: number, duration: endless)))
                (request.taskTimeLimit, request.deadline, request.allowedFailures) = (endless, endless, number)
                (request.options.priority, request.options.retries) = (number, number)
                _ = try? await coordinator.start(Submission(request))
                let incarnation = CoordinatorIncarnation(
                    CoordinatorID(rawValue: .max), generation: UInt64(bitPattern: Int64(number)))
                _ = try? await scan.reserve(ReserveRequest(incarnation: incarnation, wanted: number))
                let attempt = AttemptID(job: job, task: TaskID(number), number: number, generation: .max)
                let task = ScanTask(
                    .simulate(Simulation(duration: endless)), label: String(repeating: "x", count: 1 << 16))
                _ = try? await scan.assign(
                    Assignment(
                        incarnation: incarnation,
                        attempts: [RunRequest(attempt: attempt, task: task, timeLimit: endless)],
                        stop: [attempt], acknowledged: .max))
                _ = try? await scan.collect(
                    CollectRequest(
                        incarnation: incarnation, received: .max, acknowledged: .max, fencingToken: .max,
                        isFirst: true))
                let file = PixelFile(
                    path: "/dev/zero", content: FileContent(digest: [1], size: number, modified: number), hdu: number)
                _ = try? await pixels.part(
                    PixelRequest(file: file, part: .tile(PixelTile(column: number, row: number)), holder: nil))
            }
            _ = try? await coordinator.membership(MembershipRequest(from: .max, patience: endless * -1))
            _ = try? await coordinator.drain(
                DrainRequest(node: String(repeating: "n", count: 1 << 20), isDraining: true))
            // The node still answers, and its slot is free.
            let request = JobRequest(.simulate(SimulateRequest(tasks: 3, duration: .milliseconds(1))))
            let last = try await report(
                of: try await node.coordinator.submit(Submission(request)), at: node.coordinator)
            #expect(last.state == .done && last.completed == 3)
        }
    }
}
