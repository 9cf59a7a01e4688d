import Fixtures
import Logging
import NIOCore
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// A coordinator whose journal is full, by hand.
@Suite struct StorageLimitTests {
    private let node = NodeID(rawValue: 1)

    private func core() -> CoordinatorCore {
        CoordinatorCore(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 1), node: node, name: "one")
    }

    private func submit(_ number: UInt64, to core: inout CoordinatorCore) -> CarriedOut {
        core.carryOut { core in
            let request = JobRequest(.simulate(SimulateRequest(tasks: 2, duration: .zero)))
            _ = try? core.submit(request, token: nil, as: JobID(rawValue: number))
        }
    }

    /// Stores everything that was to be stored; the journal then holds so many bytes.
    private func store(_ core: inout CoordinatorCore, bytes: Int, at now: Duration = .zero) -> CarriedOut {
        core.carryOut(at: now) { $0.storeAll(in: JournalRoom(held: bytes, limit: 1000)) }
    }

    @Test func `jobs are deleted in the order of their ends, one after the other`() {
        var core = core()
        for number in 1...3 as ClosedRange<UInt64> { _ = submit(number, to: &core) }
        for number in [2, 1] as [UInt64] { _ = core.carryOut { $0.cancel(JobID(rawValue: number)) } }
        _ = store(&core, bytes: 1000)
        #expect(core.jobs.order.count == 3 && core.pauseReason == nil)
        let later = EndedJobs.fetchingTime
        #expect(store(&core, bytes: 1001, at: later).deleted == [JobID(rawValue: 2)])
        // Something that was decided before is stored first.
        let next = core.carryOut(at: later) { $0.stored(0, in: JournalRoom(held: 1001, limit: 1000)) }
        #expect(next.deleted.isEmpty)
        #expect(store(&core, bytes: 1001, at: later).deleted == [JobID(rawValue: 1)])
        _ = store(&core, bytes: 900, at: later)
        #expect(core.jobs.order == [JobID(rawValue: 3)] && core.pauseReason == nil)
    }

    @Test func `raising the limit lets work go on, and lowering it stops work`() {
        var core = core()
        _ = submit(1, to: &core)
        _ = store(&core, bytes: 1500)
        #expect(core.pauseReason != nil)
        _ = core.carryOut(at: .seconds(1)) { $0.setLimits(JobRetention(), bytes: 1500) }
        #expect(core.pauseReason == nil)
        _ = core.carryOut(at: .seconds(2)) { $0.setLimits(JobRetention(), bytes: 1499) }
        #expect(core.pauseReason != nil)
    }

    @Test(.timeLimit(.minutes(1))) func `a limit that became lower is kept before anything is stored`() async throws {
        let folder = ScratchFolder()
        func job(_ number: UInt64) -> StoredJob {
            StoredJob(
                id: JobID(rawValue: number), token: nil,
                request: JobRequest(.simulate(SimulateRequest(tasks: 1, duration: .zero))), submitted: 1000)
        }
        do {
            let journal = try Journal(in: JournalFolder(folder.path))
            for number in 1...9 as ClosedRange<UInt64> {
                let job = job(number)
                let result = StoredResult(
                    job: job.id, task: TaskID(0), node: "east", duration: .zero,
                    payload: ByteBuffer(repeating: 1, count: 100_000))
                let report = JobReport(
                    state: .done, reason: nil, scheduled: 1, completed: 1, failed: 0, retries: 0, duration: .seconds(1),
                    nodes: [])
                try await journal.append([
                    .submitted(job), .result(result), .ended(job.id, report, at: 2000, ran: .zero),
                ])
            }
            // Nobody fetches any of them any more.
            try await journal.close(ran: EndedJobs.fetchingTime * 2)
        }
        var limits = JournalLimits()
        limits.bytes = 500_000
        let journal = try Journal(in: JournalFolder(folder.path), limits: limits)
        let system = ClusterSystem(ClusterSettings(name: "limit"))
        let logger = Logger(label: "limit") { _ in SwiftLogNoOpLogHandler() }
        let coordinator = Coordinator(journal: journal, logger: logger, actorSystem: system)
        try await coordinator.whenLocal { try await $0.restore() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await coordinator.whenLocal { await $0.run() } }
            while try await journal.heldBytes() > limits.bytes {
                try Task.checkCancellation()
                await Task.yield()
            }
            // An operator lowers it further.
            limits.bytes = 300_000
            await coordinator.whenLocal { [limits] in await $0.setLimits(JobRetention(), limits) }
            while try await journal.heldBytes() > limits.bytes {
                try Task.checkCancellation()
                await Task.yield()
            }
            group.cancelAll()
        }
        let left = try await journal.jobs().jobs.map(\.id.rawValue)
        #expect(!left.isEmpty && left.last == 9 && left.count < 4, "\(left)")
    }

    @Test func `a full disk is checked again, and the operator's limit is not`() {
        var core = core()
        _ = submit(1, to: &core)
        _ = store(&core, bytes: 1500)
        #expect(core.pauseReason != nil && core.room.diskFault == nil, "only the operator raises it")
        func look(available: Int) {
            _ = core.carryOut(at: .seconds(1)) { core in
                core.storeAll(in: JournalRoom(held: 100, limit: 1000, disk: (size: 2000, available: available)))
            }
        }
        look(available: 50)
        #expect(core.pauseReason != nil && core.room.diskFault != nil)
        look(available: 500)
        #expect(core.pauseReason == nil && core.room.diskFault == nil)
    }

    @Test func `a job's explanation says that nothing can be stored`() throws {
        var core = core()
        _ = submit(1, to: &core)
        _ = store(&core, bytes: 1500)
        let explanation = try #require(core.explain(JobID(rawValue: 1), now: .zero))
        #expect(explanation.reasons.count == 1 && explanation.reasons[0].contains("--data-limit"))
    }

    @Test func `a job that has just ended is kept for those who wait for it`() {
        var core = core()
        _ = submit(1, to: &core)
        _ = core.carryOut(at: .seconds(5)) { $0.cancel(JobID(rawValue: 1)) }
        _ = store(&core, bytes: 900, at: .seconds(5))
        #expect(store(&core, bytes: 2000, at: .seconds(5)).deleted.isEmpty && core.pauseReason != nil)
        #expect(core.nextWake == .seconds(65))
        #expect(core.carryOut(at: .seconds(65)) { $0.tick() }.deleted == [JobID(rawValue: 1)])
        #expect(core.pauseReason == nil)
    }

    @Test func `jobs that ended long ago are deleted, and the oldest if there are too many`() {
        var retention = JobRetention()
        (retention.count, retention.age) = (2, .seconds(100))
        var core = CoordinatorCore(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 1), node: node, name: "one",
            retention: retention)
        for number in 1...4 as ClosedRange<UInt64> {
            _ = submit(number, to: &core)
            _ = core.carryOut(at: .seconds(number)) { $0.cancel(JobID(rawValue: number)) }
            _ = store(&core, bytes: 0, at: .seconds(number))
        }
        #expect(core.jobs.order.count == 4, "each is kept for those who waited for its end")
        #expect(core.nextWake == .seconds(61))
        _ = core.carryOut(at: .seconds(61)) { $0.tick() }
        _ = core.carryOut(at: .seconds(62)) { $0.tick() }
        #expect(core.jobs.order == [JobID(rawValue: 3), JobID(rawValue: 4)])
        _ = core.carryOut(at: .seconds(104)) { $0.forgetOldJobs() }
        #expect(core.jobs.order == [JobID(rawValue: 4)])
        _ = core.carryOut(at: .seconds(105)) { $0.forgetOldJobs() }
        #expect(core.jobs.order.isEmpty)
    }

    @Test func `when only active jobs are left, tasks wait until there is room`() {
        var core = core()
        _ = submit(1, to: &core)
        _ = store(&core, bytes: 2000)
        #expect(core.pauseReason?.contains("--data-limit") == true)
        _ = core.carryOut { core in
            core.joined(node, name: "one", isDraining: false)
            core.reserved(Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: 1, slots: 2), on: node)
        }
        #expect(core.dispatch.scheduler.running(on: node) == 0)
        let next = store(&core, bytes: 900)
        #expect(core.pauseReason == nil && core.dispatch.scheduler.running(on: node) == 2)
        #expect(!next.assigned.isEmpty)
    }
}
