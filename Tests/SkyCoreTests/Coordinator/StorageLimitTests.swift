import NIOCore
import Testing
import Transport

@testable import SkyCore

/// A coordinator whose journal is full, by hand.
@Suite struct StorageLimitTests {
    private let node = NodeID(rawValue: 1)

    private func core() -> CoordinatorCore {
        CoordinatorCore(
            life: CoordinatorLife(CoordinatorID(rawValue: 5), generation: 1), node: node, name: "one",
            storageLimit: 1000)
    }

    private func submit(_ number: UInt64, to core: inout CoordinatorCore) -> [CoordinatorCore.Output] {
        core.at(.zero, wall: 0) { core in
            let request = JobRequest(.simulate(SimulateRequest(tasks: 2, duration: .zero)))
            _ = core.submit(request, token: nil, as: JobID(rawValue: number))
        }
    }

    /// All that was to be stored is, and the journal holds so much.
    private func store(_ core: inout CoordinatorCore, bytes: Int) -> [CoordinatorCore.Output] {
        core.at(.zero, wall: 0) { core in
            core.journalWorks(bytes: bytes)
            core.stored(core.lastEntry)
        }
    }

    private func deletions(_ outputs: [CoordinatorCore.Output]) -> [JobID] {
        outputs.compactMap { if case .store(.deleted(let job)) = $0 { job } else { nil } }
    }

    @Test func `the oldest job that has ended is deleted first, then the next`() {
        var core = core()
        for number in 1...3 as ClosedRange<UInt64> { _ = submit(number, to: &core) }
        for number in [2, 1] as [UInt64] { _ = core.at(.zero, wall: 0) { $0.cancel(JobID(rawValue: number)) } }
        _ = store(&core, bytes: 1000)
        #expect(core.order.count == 3 && core.pauseReason == nil)
        #expect(deletions(store(&core, bytes: 1001)) == [JobID(rawValue: 1)])
        #expect(deletions(store(&core, bytes: 1001)) == [JobID(rawValue: 2)])
        #expect(core.order == [JobID(rawValue: 3)] && core.pauseReason == nil)
    }

    @Test func `jobs that ended long ago are forgotten, and the oldest where there are too many`() {
        var retention = JobRetention()
        (retention.count, retention.age) = (2, .seconds(100))
        var core = CoordinatorCore(
            life: CoordinatorLife(CoordinatorID(rawValue: 5), generation: 1), node: node, name: "one",
            retention: retention)
        for number in 1...4 as ClosedRange<UInt64> {
            _ = submit(number, to: &core)
            _ = core.at(.zero, wall: number * 1000) { $0.cancel(JobID(rawValue: number)) }
        }
        #expect(core.order == [JobID(rawValue: 3), JobID(rawValue: 4)])
        _ = core.at(.zero, wall: 1_000_000) { $0.forgetOldJobs() }
        #expect(core.order.isEmpty)
    }

    @Test func `where only jobs are left that go on, tasks wait until there is room`() {
        var core = core()
        _ = submit(1, to: &core)
        _ = store(&core, bytes: 2000)
        #expect(core.pauseReason?.contains("--data-limit") == true)
        _ = core.at(.zero, wall: 0) { core in
            core.joined(node, name: "one", isDraining: false)
            core.leased(Lease(coordinator: CoordinatorID(rawValue: 5), epoch: 1, slots: 2), on: node)
        }
        #expect(core.scheduler.running(on: node) == 0)
        let outputs = store(&core, bytes: 900)
        #expect(core.pauseReason == nil && core.scheduler.running(on: node) == 2)
        #expect(outputs.contains { if case .assign = $0 { true } else { false } })
    }
}
