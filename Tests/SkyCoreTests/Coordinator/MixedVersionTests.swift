import Base
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore

/// Nodes of other versions of the program in one cluster, as during an upgrade.
@Suite struct MixedVersionTests {
    private let own = NodeID(rawValue: 1)
    private let other = NodeID(rawValue: 2)
    private let job = JobID(rawValue: 7)

    private func core(otherVersion: String) -> CoordinatorCore {
        var core = CoordinatorCore(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 2), node: own, name: "own")
        _ = core.carryOut { core in
            core.joined(own, name: "own", isDraining: false)
            core.joined(other, name: "other", version: otherVersion, isDraining: false)
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

    @Test func `versions with the same first two numbers measure alike`() {
        #expect(SkyNetVersion.measuresAlike(SkyNetVersion.current) && SkyNetVersion.measuresAlike(SkyNetVersion.series))
        #expect(SkyNetVersion.measuresAlike(SkyNetVersion.series + ".99"))
        for version in ["", "0", SkyNetVersion.series + "1", "99.0.0", ".", "0..1"] {
            #expect(!SkyNetVersion.measuresAlike(version), "\(version)")
        }
    }

    @Test(arguments: [(SkyNetVersion.series + ".99", 1), ("99.0.0", 0)])
    func `a scan goes only to nodes that measure alike`(version: String, tasks: Int) {
        var core = core(otherVersion: version)
        _ = core.carryOut { _ = try? $0.submit(scan, token: nil, as: job) }
        #expect(lease(1, on: other, in: &core).count == tasks)
        #expect(lease(1, on: own, in: &core).count == 1 - tasks)
    }

    @Test func `simulated tasks go to nodes of every version`() {
        var core = core(otherVersion: "99.0.0")
        let request = JobRequest(.simulate(SimulateRequest(tasks: 1, duration: .seconds(1))))
        _ = core.carryOut { _ = try? $0.submit(request, token: nil, as: job) }
        #expect(lease(1, on: other, in: &core).count == 1)
    }

    @Test func `a job says so when no node is left that measures alike`() throws {
        var core = core(otherVersion: "99.0.0")
        _ = core.carryOut { core in
            _ = try? core.submit(scan, token: nil, as: job)
            core.lost(own)
        }
        let why = try #require(core.explain(job, now: .zero))
        #expect(why.reasons.contains { $0.contains("all it may use are of other versions") }, "\(why.reasons)")
        #expect(why.requirements.contains { $0.name.contains("measure as this version does") && $0.nodes == 0 })
    }

    @Test func `a result from another version for the coordinator's earlier incarnation does not count`() throws {
        var core = core(otherVersion: "99.0.0")
        _ = core.carryOut { _ = try? $0.submit(scan, token: nil, as: job) }
        let mine = try #require(lease(1, on: own, in: &core).first)
        let info = ImageInfo(width: 64, height: 64, bitpix: -32, hdu: 0, hasWCS: false)
        let payload = try WireCoder.encode(TaskResult.sky(.inspected(info)))
        var theirs = mine
        theirs.attempt = AttemptID(job: job, task: mine.attempt.task, number: 1, generation: 1)
        let receipt = core.dispatch.receipts.receipt(for: theirs.attempt, on: other)
        _ = core.carryOut { $0.claim([theirs.attempt], [receipt], on: other) }
        #expect(!isInspected(end(theirs, payload, on: other, in: &core)))
        #expect(isInspected(end(mine, payload, on: own, in: &core)), "the coordinator's own does")
    }

    @Test func `a task whose result cannot be read runs again on another node`() throws {
        var core = core(otherVersion: SkyNetVersion.current)
        _ = core.carryOut { _ = try? $0.submit(scan, token: nil, as: job) }
        let request = try #require(lease(1, on: other, in: &core).first)
        #expect(!isInspected(end(request, ByteBuffer(bytes: [1, 2, 3]), on: other, in: &core)))
        let again = try #require(lease(1, on: own, in: &core).first, "it goes on")
        #expect(again.attempt.task == request.attempt.task && core.jobs[job]?.report == nil)
    }
}
