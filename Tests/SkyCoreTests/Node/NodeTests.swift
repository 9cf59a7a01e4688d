import Base
import Distributed
import Logging
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// Whole nodes in one process, over real sockets.
@Suite(.timeLimit(.minutes(5))) struct NodeTests {
    private func with(_ slots: [Int], _ body: @escaping @Sendable ([Node]) async throws -> Void) async throws {
        try await NodesInProcess.run(slots, body)
    }

    private func report(of job: JobID, at coordinator: Coordinator) async throws -> (JobReport, [JobEvent]) {
        try await NodesInProcess.report(of: job, at: coordinator)
    }

    @Test func `a job submitted to one node is done by both`() async throws {
        try await with([2, 2]) { nodes in
            let request = JobRequest(.simulate(SimulateRequest(tasks: 40, duration: .milliseconds(20))))
            let job = try await nodes[0].coordinator.submit(Submission(request))
            let (report, events) = try await report(of: job, at: nodes[0].coordinator)
            #expect(report.state == .done && report.completed == 40 && report.failed == 0)
            #expect(report.nodes.map(\.name) == ["node1", "node2"])
            #expect(report.nodes.map(\.completed).reduce(0, +) == 40)
            #expect(events.map(\.number) == Array(0..<events.count), "no event is missing")
        }
    }

    @Test func `only a certificate says who submits, not the submission`() async throws {
        try await with([1, 1]) { nodes in
            let remote = try Coordinator.resolve(
                id: ActorAddress(node: nodes[1].system.node, name: Coordinator.wellKnownName), using: nodes[0].system)
            var request = JobRequest(.simulate(SimulateRequest(tasks: 1, duration: .zero)))
            request.submitter = "alice"
            let job = try await remote.submit(Submission(request))
            #expect(try await remote.listing(job).submitter == nil)
            #expect(try await remote.details(job).request.submitter == nil)
        }
    }

    @Test func `a remote coordinator answers every one of its methods`() async throws {
        try await with([2, 2]) { nodes in
            let remote = try Coordinator.resolve(
                id: ActorAddress(node: nodes[1].system.node, name: Coordinator.wellKnownName), using: nodes[0].system)
            var simulation = SimulateRequest(tasks: 10, duration: .milliseconds(5))
            simulation.failEvery = 5
            let job = try await remote.submit(Submission(JobRequest(.simulate(simulation))))
            let (report, events) = try await report(of: job, at: remote)
            #expect(report.completed == 10 && report.retries == 2)
            #expect(events.count { if case .retrying = $0.kind { true } else { false } } == report.retries)
            #expect(try await remote.nodes().map(\.member.name) == ["node1", "node2"])
            let page = try await remote.membership(MembershipRequest(from: nil, patience: .zero))
            #expect(page.members?.map(\.name).sorted() == ["node1", "node2"])
            #expect(try await remote.membership(MembershipRequest(from: page.next, patience: .zero)).entries.isEmpty)
            #expect(try await remote.waiting().isEmpty)
            let small = try await remote.start(
                Submission(JobRequest(.simulate(SimulateRequest(tasks: 1, duration: .seconds(60))))))
            #expect(small.batch.status.scheduled == 1, "the first batch is answered before the job has ended")
            try await remote.cancel(small.job)
            #expect(try await remote.page(PicturePage.self, of: job).preview == nil)
            #expect(try await remote.preview(job) == nil)
            await #expect(throws: RemoteError.self) { _ = try await remote.page(CataloguePage.self, of: job) }
            #expect(try await remote.why(job).reasons == ["finished: done"])
            await #expect(throws: RemoteError.self) {
                _ = try await remote.catalogue(CatalogueRequest(job: job, from: 0))
            }
            await #expect(throws: RemoteError.self) {
                _ = try await remote.planes(CheckPixelsRequest(job: job, page: 0))
            }
            await #expect(throws: RemoteError.self) {
                _ = try await remote.events(EventsRequest(job: JobID(rawValue: 1), from: 0))
            }
            try await remote.cancel(job)
        }
    }

    @Test func `a remote scan actor answers every one of its methods, and its slots return`() async throws {
        try await with([1, 3]) { nodes in
            let (own, peer) = (nodes[0].system, nodes[1].system)
            let remote = try ScanActor.resolve(
                id: ActorAddress(node: peer.node, name: ScanActor.wellKnownName), using: own)
            #expect(try await remote.status().slots == 3)
            let incarnation = CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 1)
            #expect(try await remote.reserve(ReserveRequest(incarnation: incarnation, wanted: 2)).slots == 2)
            let first = try await remote.collect(collection(incarnation, isFirst: true))
            #expect(first.results.isEmpty && first.lease?.slots == 2 && first.attempts == [])

            let task = ScanTask(.simulate(Simulation(duration: .seconds(60))), label: "long")
            let attempt = AttemptID(job: JobID(rawValue: 7), task: 0, number: 1)
            let request = RunRequest(attempt: attempt, task: task, timeLimit: .seconds(100))
            try await remote.assign(Assignment(incarnation: incarnation, attempts: [request]))
            #expect(try await remote.status().running == 1)
            #expect(try await remote.collect(collection(incarnation, isFirst: true)).attempts == [attempt])
            try await remote.assign(Assignment(incarnation: incarnation, stop: [attempt]))
            let fencingToken = first.lease?.fencingToken ?? 0
            let stopped = try await remote.collect(collection(incarnation, fencingToken: fencingToken))
            #expect(stopped.results.map(\.attempt) == [attempt] && stopped.results[0].outcome == .refused("stopped"))
            #expect(
                try await remote.collect(collection(incarnation)).results == stopped.results,
                "nobody has acknowledged them")
            let last = try await remote.collect(collection(incarnation, received: 1, acknowledged: 1))
            #expect(last.results.isEmpty)
            #expect(try await remote.reserve(ReserveRequest(incarnation: incarnation, wanted: 0)).slots == 0)
            try await remote.drain(true)
            #expect(try await remote.reserve(ReserveRequest(incarnation: incarnation, wanted: 1)).slots == 0)
            #expect(try await remote.status().running == 0)
        }
    }

    private func collection(
        _ incarnation: CoordinatorIncarnation, received: UInt64 = 0, acknowledged: UInt64 = 0, fencingToken: UInt64 = 0,
        isFirst: Bool = false
    ) -> CollectRequest {
        CollectRequest(
            incarnation: incarnation, received: received, acknowledged: acknowledged, fencingToken: fencingToken,
            isFirst: isFirst)
    }

    @Test func `work without a lease and absurd durations are refused`() async throws {
        try await with([1, 1]) { nodes in
            let remote = try ScanActor.resolve(
                id: ActorAddress(node: nodes[1].system.node, name: ScanActor.wellKnownName), using: nodes[0].system)
            let incarnation = CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 1)
            func outcome(_ number: Int, _ duration: Duration, _ limit: Duration) async throws -> AttemptOutcome? {
                let request = RunRequest(
                    attempt: AttemptID(job: JobID(rawValue: 1), task: 0, number: number),
                    task: ScanTask(.simulate(Simulation(duration: duration)), label: "x"), timeLimit: limit)
                try await remote.assign(Assignment(incarnation: incarnation, attempts: [request]))
                return try await remote.collect(collection(incarnation, received: UInt64(number - 1))).results.first?
                    .outcome
            }
            #expect(try await outcome(1, .zero, .seconds(1)) == .refused("the coordinator holds no lease on this node"))
            _ = try await remote.reserve(ReserveRequest(incarnation: incarnation, wanted: Int.max))
            let endless = Duration(secondsComponent: Int64.max, attosecondsComponent: 0)
            for (duration, limit) in [(endless, .seconds(1)), (.zero, endless), (.seconds(-1), .seconds(1))] {
                let error = await #expect(throws: RemoteError.self) { _ = try await outcome(2, duration, limit) }
                #expect(error?.kind == .badArguments)
            }
        }
    }

    @Test func `calls of an earlier incarnation of a coordinator are refused`() async throws {
        try await with([1, 1]) { nodes in
            let remote = try ScanActor.resolve(
                id: ActorAddress(node: nodes[1].system.node, name: ScanActor.wellKnownName), using: nodes[0].system)
            let id = CoordinatorID(rawValue: 5)
            _ = try await remote.reserve(
                ReserveRequest(incarnation: CoordinatorIncarnation(id, generation: 2), wanted: 1))
            await #expect(throws: WorkBook.Rejection.superseded) {
                _ = try await remote.reserve(
                    ReserveRequest(incarnation: CoordinatorIncarnation(id, generation: 1), wanted: 1))
            }
        }
    }

    @Test func `a cancelled job ends at once and gives its slots back`() async throws {
        try await with([2, 2]) { nodes in
            let request = JobRequest(.simulate(SimulateRequest(tasks: 100, duration: .seconds(600))))
            let job = try await nodes[0].coordinator.submit(Submission(request))
            while try await nodes[0].coordinator.events(EventsRequest(job: job, from: 0)).status.running < 4 {}
            try await nodes[0].coordinator.cancel(job)
            let (report, _) = try await report(of: job, at: nodes[0].coordinator)
            #expect(report.state == .cancelled && report.completed == 0)
            for node in nodes {
                let scan = try ScanActor.resolve(
                    id: ActorAddress(node: node.system.node, name: ScanActor.wellKnownName), using: node.system)
                while try await scan.status().running > 0 {}
            }
        }
    }

    @Test func `a worker program that is missing fails the tasks, with the reason`() async throws {
        try await with([1]) { nodes in
            let image = ImageReference(path: "/tmp/none.fits", hdu: nil)
            let job = try await nodes[0].coordinator.submit(
                Submission(JobRequest(.sky(SkyRequest(image: image, configuration: ScanConfiguration())))))
            let (report, _) = try await report(of: job, at: nodes[0].coordinator)
            #expect(report.state == .failed)
            #expect(report.reason?.contains("/nonexistent/skynode") == true)
        }
    }

    @Test(arguments: [0, -5, SimulateRequest.taskLimit + 1]) func `a nonsensical job is refused`(tasks: Int)
        async throws
    {
        try await with([1]) { nodes in
            await #expect(throws: SkyError.self) {
                _ = try await nodes[0].coordinator.submit(
                    Submission(JobRequest(.simulate(SimulateRequest(tasks: tasks, duration: .zero)))))
            }
        }
    }
}
