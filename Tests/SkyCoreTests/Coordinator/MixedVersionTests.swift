import Base
import Logging
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// Nodes that measure otherwise in one cluster: of other versions of the program, with other libraries or processors, as during an
/// upgrade.
@Suite struct MixedVersionTests {
    private let own = NodeID(rawValue: 1)
    private let other = NodeID(rawValue: 2)
    private let job = JobID(rawValue: 7)

    /// Of another release, and of this one with another library.
    private static let older = Arithmetic("0.1, sep 1.2.1, x86_64")
    private static let rebuilt = Arithmetic(JobKinds.arithmetic.text + ", sep 9.9")

    private func core(other arithmetic: Arithmetic?) -> CoordinatorCore {
        var core = CoordinatorCore(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 2), node: own, name: "own")
        _ = core.carryOut { core in
            core.joined(own, name: "own", isDraining: false)
            core.joined(other, name: "other", arithmetic: arithmetic, isDraining: false)
        }
        return core
    }

    private func lease(_ slots: Int, on node: NodeID, in core: inout CoordinatorCore) -> [RunRequest] {
        core.carryOut {
            $0.reserved(Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: 1, slots: slots), on: node)
        }.assigned.map(\.request)
    }

    private var scan: JobRequest {
        JobRequest(
            .sky(SkyRequest(image: ImageReference(path: "/x.fits", hdu: nil), configuration: ScanConfiguration())))
    }

    private func end(
        _ request: RunRequest, _ payload: ByteBuffer, on node: NodeID, in core: inout CoordinatorCore
    ) -> CarriedOut {
        let result = AttemptResult(
            sequence: 1, attempt: request.attempt, outcome: .done(payload), duration: .zero)
        return core.carryOut { $0.deliver([result], from: node) }
    }

    private func isInspected(_ done: CarriedOut) -> Bool { !done.results.isEmpty }

    /// The last one is a node of a version that does not say how it measures.
    @Test(arguments: [(JobKinds.arithmetic, 1), (older, 0), (rebuilt, 0), (nil as Arithmetic?, 0)])
    func `a scan goes only to nodes that measure alike`(arithmetic: Arithmetic?, tasks: Int) {
        var core = core(other: arithmetic)
        _ = core.carryOut { _ = try? $0.submit(scan, token: nil, as: job) }
        #expect(lease(1, on: other, in: &core).count == tasks)
        #expect(lease(1, on: own, in: &core).count == 1 - tasks)
    }

    @Test func `simulated tasks go to nodes that measure otherwise`() {
        var core = core(other: nil)
        let request = JobRequest(.simulate(SimulateRequest(tasks: 1, duration: .seconds(1))))
        _ = core.carryOut { _ = try? $0.submit(request, token: nil, as: job) }
        #expect(lease(1, on: other, in: &core).count == 1)
    }

    @Test func `a job says so when no node is left that measures alike`() throws {
        var core = core(other: MixedVersionTests.older)
        _ = core.carryOut { core in
            _ = try? core.submit(scan, token: nil, as: job)
            core.lost(own)
        }
        let why = try #require(core.explain(job, now: .zero))
        #expect(why.reasons.contains { $0.contains("all it may use measure otherwise") }, "\(why.reasons)")
        #expect(why.requirements.contains { $0.name.contains("measure as this node does") && $0.nodes == 0 })
    }

    @Test func `a job says which nodes measure otherwise, and in what`() throws {
        var other = JobKinds.arithmetic.text
        let version = try #require(other.firstRange(of: "sep "))
        other.replaceSubrange(version.upperBound..., with: "9.9" + other[version.upperBound...].drop { $0 != "," })
        var core = core(other: Arithmetic(other))
        _ = core.carryOut { core in
            core.joined(NodeID(rawValue: 3), name: "silent", arithmetic: nil, isDraining: false)
            for number in 10...16 as ClosedRange<UInt64> {
                core.joined(
                    NodeID(rawValue: number), name: "old\(number)", arithmetic: MixedVersionTests.older,
                    isDraining: false)
            }
            _ = try? core.submit(scan, token: nil, as: job)
        }
        let reasons = try #require(core.explain(job, now: .zero)).reasons
        #expect(reasons.contains { $0.hasPrefix("other: measures otherwise (sep 9.9; here sep ") }, "\(reasons)")
        #expect(reasons.contains { $0.hasPrefix("silent: an older version") }, "\(reasons)")
        #expect(
            reasons.contains {
                $0.hasPrefix("old10, old11, old12, old13, old14 and 2 more: measures otherwise (0.1")
            }, "\(reasons)")
        _ = core.carryOut { core in
            core.lost(self.other)
            core.lost(NodeID(rawValue: 3))
            for number in 10...16 as ClosedRange<UInt64> { core.lost(NodeID(rawValue: number)) }
        }
        let rest = try #require(core.explain(job, now: .zero)).reasons
        #expect(!rest.contains { $0.contains("otherwise") }, "\(rest)")
    }

    @Test func `a result from another version for the coordinator's earlier incarnation does not count`() throws {
        var core = core(other: MixedVersionTests.older)
        _ = core.carryOut { _ = try? $0.submit(scan, token: nil, as: job) }
        let mine = try #require(lease(1, on: own, in: &core).first)
        let info = ImageInfo(width: 64, height: 64, bitpix: -32, hdu: 0, hasWCS: false)
        let payload = try WireCoder.encode(TaskResult.sky(.inspected(info)))
        var theirs = mine
        theirs.attempt = AttemptID(job: job, task: mine.attempt.task, number: 1, generation: 1)
        let receipt = core.dispatch.receipts.receipt(for: theirs.attempt, basis: 0, on: other)
        _ = core.carryOut { $0.claim([theirs.attempt], [receipt], on: other) }
        #expect(!isInspected(end(theirs, payload, on: other, in: &core)))
        #expect(isInspected(end(mine, payload, on: own, in: &core)), "the coordinator's own does")
    }

    /// What versions until 0.2.0 stored is their version, and says nothing of their libraries.
    @Test(arguments: [(JobKinds.arithmetic.text, 1), (SkyNetVersion.current, 0), (MixedVersionTests.older.text, 0)])
    func `a job that a program began that measures otherwise begins anew`(program: String, kept: Int) async throws {
        let journal = try Journal.inMemory()
        let info = ImageInfo(width: 64, height: 64, bitpix: -32, hdu: 0, hasWCS: false)
        let result = StoredResult(
            job: job, task: 0, node: "own", duration: .zero,
            payload: try WireCoder.encode(TaskResult.sky(.inspected(info))))
        let stored = StoredJob(id: job, token: nil, request: scan, program: program, submitted: 5)
        try await journal.append([.submitted(stored), .result(result)])
        let logger = Logger(label: "mixed") { _ in SwiftLogNoOpLogHandler() }
        let coordinator = Coordinator(
            journal: journal, logger: logger, actorSystem: ClusterSystem(ClusterSettings(name: "mixed")))
        try await coordinator.whenLocal { try await $0.restore() }
        #expect(try await journal.results(of: job, from: 0, count: 9).count == kept)
        #expect(try await journal.jobs().jobs.map(\.program) == [JobKinds.arithmetic.text])
        let (known, job) = (await coordinator.whenLocal { $0.core.jobs }, job)
        #expect(known?[job]?.stored.program == JobKinds.arithmetic.text, "it is what the catalogue's header names")
    }

    @Test func `a task whose result cannot be read runs again on another node`() throws {
        var core = core(other: JobKinds.arithmetic)
        _ = core.carryOut { _ = try? $0.submit(scan, token: nil, as: job) }
        let request = try #require(lease(1, on: other, in: &core).first)
        #expect(!isInspected(end(request, ByteBuffer(bytes: [1, 2, 3]), on: other, in: &core)))
        let again = try #require(lease(1, on: own, in: &core).first, "it goes on")
        #expect(again.attempt.task == request.attempt.task && core.jobs[job]?.report == nil)
    }
}
