import Base
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// Which messages of which nodes a coordinator believes.
@Suite struct CoordinatorTrustTests {
    private let done = AttemptOutcome.done(ByteBuffer())

    @Test func `a result of an earlier incarnation counts only from the node it was sent to`() throws {
        var story = CoordinatorStory()
        let job = try story.submit(CoordinatorStory.simulation(3))
        let earlier = AttemptID(job: job, task: 0, number: 1, generation: 1)
        let receipt = story.core.dispatch.receipts.receipt(for: earlier, basis: 0, on: story.other)
        story.deliver(earlier, done, from: story.other)
        story.deliver(earlier, done, from: story.other, receipt: 4711)
        story.deliver(earlier, done, from: story.own, receipt: receipt)
        var claimed = earlier
        claimed.task = 1
        story.deliver(claimed, done, from: story.other, receipt: receipt)
        #expect(story.results.isEmpty, "none of these was sent so")
        story.deliver(earlier, done, from: story.other, receipt: receipt)
        #expect(story.results.map(\.task) == [0])
    }

    @Test func `an attempt that was given up is believed only with its receipt`() throws {
        var story = CoordinatorStory()
        _ = try story.submit(CoordinatorStory.simulation(1))
        story.lease(1, on: story.other)
        let sent = try #require(story.assigned.first?.request)
        story.change { $0.lost(NodeID(rawValue: 2)) }
        story.change { $0.joined(NodeID(rawValue: 2), name: "other", isDraining: false) }
        story.deliver(sent.attempt, done, from: story.other)
        #expect(story.results.isEmpty)
        story.deliver(sent.attempt, done, from: story.other, receipt: sent.receipt)
        #expect(story.results.count == 1)
    }

    @Test func `a node's claim to run an attempt is believed only with its receipt`() throws {
        var story = CoordinatorStory()
        let job = try story.submit(CoordinatorStory.simulation(2))
        let attempts = [0, 1].map { AttemptID(job: job, task: TaskID($0), number: 1, generation: 1) }
        story.change { $0.claim(attempts, nil, on: NodeID(rawValue: 2)) }
        story.change { $0.claim(attempts, [1, 2], on: NodeID(rawValue: 2)) }
        #expect(story.core.dispatch.scheduler.running(on: story.other) == 0)
        let proofs = attempts.map { story.core.dispatch.receipts.receipt(for: $0, basis: 0, on: story.other) }
        story.change { $0.claim(attempts, proofs, on: NodeID(rawValue: 2)) }
        #expect(story.core.dispatch.scheduler.running(on: story.other) == 2)
    }

    @Test func `a job that was restarted accepts no earlier result`() throws {
        var story = CoordinatorStory(generation: 3)
        var stored = StoredJob(
            id: JobID(rawValue: 7), token: nil, request: CoordinatorStory.simulation(1), submitted: 0)
        stored.resultsSince = 3
        let replay = JobReplay(stored.request)
        story.change { $0.restore(stored, replay) }
        let earlier = AttemptID(job: stored.id, task: 0, number: 1, generation: 2)
        story.deliver(
            earlier, done, from: story.other,
            receipt: story.core.dispatch.receipts.receipt(for: earlier, basis: 0, on: story.other))
        #expect(story.results.isEmpty)
    }

    @Test func `the same token with another request is refused`() throws {
        var story = CoordinatorStory()
        var request = CoordinatorStory.scan("/night/one.fits")
        request.options.use = ["a", "b", "c", "d"]
        let job = try story.submit(request, token: "t")
        #expect(try story.submit(request, token: "t", as: 8) == job, "the same is answered with the same")
        #expect(throws: SkyError(.badInput, "the token belongs to job \(job), which was asked for something else")) {
            _ = try story.submit(CoordinatorStory.scan("/night/two.fits"), token: "t", as: 9)
        }
    }

    /// Found by chaos: a command that asked again after its coordinator had been killed was refused.
    @Test func `a token finds its job again after a restart, whatever the request is`() async throws {
        var rehearsal = SimulateRequest(tasks: 3, duration: .milliseconds(300))
        (rehearsal.poison, rehearsal.failEvery) = ([1: .hang, 3: .crash], 2)
        var scan = CoordinatorStory.scan("/night/one.fits")
        (scan.deadline, scan.options.use, scan.options.priority) = (
            .seconds(77), ["berlin", "amsterdam", "cairo", "dover"], -4
        )
        if var request = scan.kind.scan {
            request.configuration.threshold = 1.1
            scan.kind = .sky(request)
        }
        let journal = try Journal.inMemory()
        let requests = [JobRequest(.simulate(rehearsal)), scan, CoordinatorStory.simulation(1)]
        for (number, request) in requests.enumerated() {
            var story = CoordinatorStory()
            let job = try story.submit(request, token: "t\(number)", as: UInt64(number + 1))
            let stored = try #require(story.core.jobs[job]?.stored)
            try await journal.append([.submitted(stored)])
        }
        var story = CoordinatorStory()
        let (jobs, damaged) = try await journal.jobs()
        #expect(damaged == [])
        for job in jobs {
            _ = story.core.at(.zero, wall: 0) { $0.restore(job, JobReplay(job.request)) }
        }
        for (number, request) in requests.enumerated() {
            let job = try story.submit(request, token: "t\(number)", as: UInt64(number + 10))
            #expect(job == JobID(rawValue: UInt64(number + 1)))
            #expect(throws: SkyError.self) {
                _ = try story.submit(requests[(number + 1) % 3], token: "t\(number)", as: 20)
            }
        }
        #expect(story.core.jobs.count == 3)
    }

    @Test(arguments: [-32, 16])
    func `tasks do not wait until what they follow from is stored, and count only where that is the same`(
        bitpix: Int
    ) throws {
        func inspected(_ bitpix: Int) throws -> AttemptOutcome {
            let info = ImageInfo(width: 128, height: 64, bitpix: bitpix, hdu: 0, hasWCS: false)
            return .done(try WireCoder.encode(TaskResult.sky(.inspected(info))))
        }
        func begin(_ bitpix: Int, generation: UInt64) throws -> CoordinatorStory {
            var story = CoordinatorStory(generation: generation)
            _ = try story.submit(CoordinatorStory.scan())
            story.lease(4, on: story.other)
            let header = try #require(story.assigned.first?.request)
            story.deliver(header.attempt, try inspected(bitpix), from: story.other)
            #expect(story.assigned.map(\.request.task.label) == ["header", "background 1", "background 2"])
            return story
        }
        let lost = try begin(-32, generation: 2)
        let sent = lost.assigned[1].request
        guard case .background(_, let sector, let configuration) = sent.task.work.sky else {
            Issue.record("\(sent.task.label) is not a background")
            return
        }
        let tile = try BackgroundTile(
            pixels: .init(repeating: 100, count: 4096), sector: sector, configuration: configuration)
        // The coordinator died before it had stored the header, and has it read again.
        var story = try begin(bitpix, generation: 3)
        story.deliver(
            sent.attempt, .done(try WireCoder.encode(TaskResult.sky(.background(tile)))), from: story.other,
            receipt: sent.receipt)
        #expect(story.results.map(\.task) == (bitpix == -32 ? [0, 1] : [0]))
    }

    @Test func `a node that sends nonsense is no longer used, and its tasks run elsewhere`() throws {
        var story = CoordinatorStory()
        let job = try story.submit(CoordinatorStory.simulation(1))
        story.lease(1, on: story.other)
        #expect(story.assigned.map(\.node) == [story.other])
        story.lease(1, on: story.own)
        for _ in 0..<2 { story.change { $0.collectionFailed(from: NodeID(rawValue: 2), .invalidReply("nonsense")) } }
        #expect(story.done.distrusted == [story.other], "this is reported once")
        story.pass(.seconds(2))
        #expect(story.assigned.map(\.node) == [story.other, story.own])
        story.change { $0.joined(NodeID(rawValue: 2), name: "other", isDraining: false) }
        #expect(!story.core.dispatch.isPresent(story.other), "not before it was started again")
        let why = try #require(story.core.explain(job, now: .seconds(2)))
        #expect(why.reasons.contains { $0.contains("other is not used") })
    }

    @Test func `a job's explanation says why a node refuses its calls`() throws {
        var story = CoordinatorStory()
        let job = try story.submit(CoordinatorStory.simulation(1))
        story.change { $0.collectionFailed(from: NodeID(rawValue: 2), NodeFault(WorkBook.Rejection.duplicate)) }
        let why = try #require(story.core.explain(job, now: .zero))
        #expect(why.reasons.contains { $0.hasPrefix("other does not work for this node") }, "\(why.reasons)")
    }
}

/// What a coordinator keeps, and for how long.
@Suite struct CoordinatorMemoryTests {
    private func end(_ number: UInt64, in story: inout CoordinatorStory) throws {
        _ = try story.submit(CoordinatorStory.simulation(1), as: number)
        story.change { $0.cancel(JobID(rawValue: number)) }
        story.store()
    }

    @Test func `a long job is kept longer than younger jobs that ended before it`() throws {
        var retention = JobRetention()
        retention.count = 3
        var story = CoordinatorStory(retention: retention)
        _ = try story.submit(CoordinatorStory.simulation(1), as: 1)
        for number in 2...9 as ClosedRange<UInt64> {
            try end(number, in: &story)
            story.pass(.seconds(100))
        }
        story.change { $0.cancel(JobID(rawValue: 1)) }
        story.store()
        try end(10, in: &story)
        #expect(!story.deleted.contains(JobID(rawValue: 1)), "its results are being fetched")
        #expect(story.core.jobs.order.count == 3)
    }

    @Test func `setting the clock deletes no job and ends none`() throws {
        var story = CoordinatorStory()
        try end(1, in: &story)
        var request = CoordinatorStory.simulation(1)
        request.deadline = .seconds(3600)
        _ = try story.submit(request, as: 2)
        story.pass(.seconds(1), clockJumps: .seconds(400 * 86_400))
        try end(3, in: &story)
        story.pass(.seconds(100), clockJumps: .seconds(-800 * 86_400))
        try end(4, in: &story)
        #expect(story.deleted.isEmpty && story.core.jobs[JobID(rawValue: 2)]?.isActive == true)
        story.pass(.seconds(3600))
        #expect(story.core.jobs[JobID(rawValue: 2)]?.isActive == false, "its time is over by the time that passed")
    }

    @Test func `after a restart a deadline counts the time that the coordinator has run`() throws {
        var request = CoordinatorStory.simulation(1)
        request.deadline = .seconds(100)
        var stored = StoredJob(id: JobID(rawValue: 1), token: nil, request: request, submitted: 0)
        stored.submittedRun = .seconds(40)
        var core = CoordinatorCore(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 2), node: NodeID(rawValue: 1),
            name: "one",
            ranBefore: .seconds(90))
        // Ten years later, by the clock.
        _ = core.at(.zero, wall: 315_360_000_000) { $0.restore(stored, JobReplay(request)) }
        _ = core.at(.seconds(49), wall: 315_360_049_000) { $0.tick() }
        #expect(core.jobs[stored.id]?.isActive == true && core.nextWake == .seconds(50))
        _ = core.at(.seconds(50), wall: 315_360_050_000) { $0.tick() }
        #expect(core.jobs[stored.id]?.isActive == false)
    }

    @Test func `nodes that are gone are forgotten in the end`() {
        var nodes = KnownNodes(own: NodeID(rawValue: 1), name: "own")
        for number in 2...5000 as ClosedRange<UInt64> {
            let node = NodeID(rawValue: number)
            _ = nodes.joined(node, name: "node\(number)", now: .zero)
            // It will never get this result.
            _ = nodes.deliver(node) { $0.receive(1) }
            _ = nodes.lost(node, now: .zero)
        }
        #expect(nodes.deliveries.count == KnownNodes.goneLimit && nodes.name(of: NodeID(rawValue: 2)) == nil)
        #expect(nodes.name(of: NodeID(rawValue: 5000)) == "node5000" && nodes.name(of: NodeID(rawValue: 1)) == "own")
        _ = nodes.joined(NodeID(rawValue: 5001), name: "last", now: KnownNodes.memory)
        #expect(nodes.deliveries.isEmpty && nodes.name(of: NodeID(rawValue: 5000)) == nil)
    }

    @Test func `reasons have a bounded length, and name nodes by their names`() throws {
        var story = CoordinatorStory()
        var request = CoordinatorStory.simulation(1)
        request.options.retries = 0
        _ = try story.submit(request)
        story.lease(1, on: story.other)
        let sent = try #require(story.assigned.first?.request)
        story.deliver(sent.attempt, .fault(String(repeating: "é", count: 100_000)), from: story.other)
        let failed = story.done.entries.compactMap { entry -> String? in
            if case .failed(_, let failure) = entry { failure.reason } else { nil }
        }
        let reason = try #require(failed.first)
        #expect(reason.hasPrefix("failed 1 times on other: éé") && reason.utf8.count < 2200)
    }
}
