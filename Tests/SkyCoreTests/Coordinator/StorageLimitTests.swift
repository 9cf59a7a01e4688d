import NIOCore
import Testing
import Transport

@testable import SkyCore

/// A coordinator whose journal is full, by hand.
@Suite struct StorageLimitTests {
    private let node = NodeID(rawValue: 1)

    private func core() -> CoordinatorCore {
        CoordinatorCore(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 1), node: node, name: "one")
    }

    private func submit(_ number: UInt64, to core: inout CoordinatorCore) -> [CoordinatorCore.Output] {
        core.at(.zero, wall: 0) { core in
            let request = JobRequest(.simulate(SimulateRequest(tasks: 2, duration: .zero)))
            _ = try? core.submit(request, token: nil, as: JobID(rawValue: number))
        }
    }

    /// All that was to be stored is, and the journal holds so much.
    private func store(
        _ core: inout CoordinatorCore, bytes: Int, at now: Duration = .zero
    ) -> [CoordinatorCore.Output] {
        core.at(now, wall: 0) { core in
            core.stored(core.lastEntry)
            core.journalWorks(JournalRoom(held: bytes, limit: 1000))
        }
    }

    private func deletions(_ outputs: [CoordinatorCore.Output]) -> [JobID] {
        outputs.compactMap { if case .store(.deleted(let job)) = $0 { job } else { nil } }
    }

    @Test func `the job that ended first is deleted first, then the next, each when its forerunner is gone`() {
        var core = core()
        for number in 1...3 as ClosedRange<UInt64> { _ = submit(number, to: &core) }
        for number in [2, 1] as [UInt64] { _ = core.at(.zero, wall: 0) { $0.cancel(JobID(rawValue: number)) } }
        _ = store(&core, bytes: 1000)
        #expect(core.order.count == 3 && core.pauseReason == nil)
        let later = EndedJobs.fetchingTime
        #expect(deletions(store(&core, bytes: 1001, at: later)) == [JobID(rawValue: 2)])
        // Something that was decided before is stored first.
        let outputs = core.at(later, wall: 0) { $0.journalWorks(JournalRoom(held: 1001, limit: 1000)) }
        #expect(deletions(outputs).isEmpty)
        #expect(deletions(store(&core, bytes: 1001, at: later)) == [JobID(rawValue: 1)])
        _ = store(&core, bytes: 900, at: later)
        #expect(core.order == [JobID(rawValue: 3)] && core.pauseReason == nil)
    }

    @Test func `a limit that is raised lets work go on, and one that is lowered stops it`() {
        var core = core()
        _ = submit(1, to: &core)
        _ = store(&core, bytes: 1500)
        #expect(core.pauseReason != nil)
        _ = core.at(.seconds(1), wall: 0) { $0.limitStorage(1500) }
        #expect(core.pauseReason == nil)
        _ = core.at(.seconds(2), wall: 0) { $0.limitStorage(1499) }
        #expect(core.pauseReason != nil)
    }

    @Test func `a disk without room is looked at again, the operator's limit is not`() {
        var core = core()
        _ = submit(1, to: &core)
        _ = store(&core, bytes: 1500)
        #expect(core.pauseReason != nil && !core.waitsForDisk, "only the operator raises it")
        func look(available: Int) {
            _ = core.at(.seconds(1), wall: 0) { core in
                core.stored(core.lastEntry)
                core.journalWorks(JournalRoom(held: 100, limit: 1000, disk: (size: 2000, available: available)))
            }
        }
        look(available: 50)
        #expect(core.pauseReason != nil && core.waitsForDisk)
        look(available: 500)
        #expect(core.pauseReason == nil && !core.waitsForDisk)
    }

    @Test func `while nothing may be stored that is what a job waits for`() throws {
        var core = core()
        _ = submit(1, to: &core)
        _ = store(&core, bytes: 1500)
        let explanation = try #require(core.explain(JobID(rawValue: 1), now: .zero))
        #expect(explanation.reasons.count == 1 && explanation.reasons[0].contains("--data-limit"))
    }

    @Test func `a job that has just ended is left to whoever waits for it`() {
        var core = core()
        _ = submit(1, to: &core)
        _ = core.at(.seconds(5), wall: 0) { $0.cancel(JobID(rawValue: 1)) }
        _ = store(&core, bytes: 900, at: .seconds(5))
        #expect(deletions(store(&core, bytes: 2000, at: .seconds(5))).isEmpty && core.pauseReason != nil)
        #expect(core.nextWake == .seconds(65))
        #expect(deletions(core.at(.seconds(65), wall: 0) { $0.tick() }) == [JobID(rawValue: 1)])
        #expect(core.pauseReason == nil)
    }

    @Test func `jobs that ended long ago are forgotten, and the oldest where there are too many`() {
        var retention = JobRetention()
        (retention.count, retention.age) = (2, .seconds(100))
        var core = CoordinatorCore(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 1), node: node, name: "one",
            retention: retention)
        for number in 1...4 as ClosedRange<UInt64> {
            _ = submit(number, to: &core)
            _ = core.at(.seconds(number), wall: 0) { $0.cancel(JobID(rawValue: number)) }
            _ = store(&core, bytes: 0, at: .seconds(number))
        }
        #expect(core.order.count == 4, "each is left to whoever waited for its end")
        #expect(core.nextWake == .seconds(61))
        _ = core.at(.seconds(61), wall: 0) { $0.tick() }
        _ = core.at(.seconds(62), wall: 0) { $0.tick() }
        #expect(core.order == [JobID(rawValue: 3), JobID(rawValue: 4)])
        _ = core.at(.seconds(104), wall: 0) { $0.forgetOldJobs() }
        #expect(core.order == [JobID(rawValue: 4)])
        _ = core.at(.seconds(105), wall: 0) { $0.forgetOldJobs() }
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
