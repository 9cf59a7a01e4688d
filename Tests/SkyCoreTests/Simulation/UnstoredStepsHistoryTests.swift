import Base
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// A plan's next tasks are sent out before the results that they follow from are stored. Here a coordinator dies at any moment, and the
/// image has another size or other pixels whenever somebody reads it: what is stored in the end must fit together all the same.
@Suite struct UnstoredStepsHistoryTests {
    @Test func `every stored result answers what its plan asks, whatever was lost before`() throws {
        var seen = UnstoredSteps.Sights()
        for seed in 0..<400 as Range<UInt64> {
            var history = UnstoredSteps(seed: seed)
            try history.run()
            #expect(history.violations.isEmpty, "seed \(seed)")
            seen.stale += history.seen.stale
            seen.early += history.seen.early
            seen.crashes += history.seen.crashes
        }
        #expect(seen.stale > 50, "results of tasks that followed from lost results came back")
        #expect(seen.early > 50, "tasks were sent before what they follow from was stored")
        #expect(seen.crashes > 400)
    }
}

/// One such history: a scan, its coordinator, its journal, and two nodes that outlive the coordinator.
private struct UnstoredSteps {
    struct Sights {
        /// Results that would have been stored, if they were not based on what was lost.
        var stale = 0
        /// Tasks that were sent although something before them was not stored.
        var early = 0
        var crashes = 0
    }

    private struct Node {
        let id: NodeID
        var running: [RunRequest] = []
        var results: [AttemptResult] = []
        var sequence: UInt64 = 0
    }

    private static let coordinator = CoordinatorID(rawValue: 5)
    private let job = JobID(rawValue: 7)
    private var random: SplitMix64
    private var now: Duration = .zero
    private var journal = SimulatedJournal(UnstoredSteps.coordinator)
    private var core: CoordinatorCore
    private var unstored: [JournalEntry] = []
    private var nodes = [Node(id: NodeID(rawValue: 2)), Node(id: NodeID(rawValue: 3))]
    /// What was asked, by the duration of the answer: each has its own.
    private var questions: [Duration: ByteBuffer] = [:]
    private(set) var violations: [String] = []
    private(set) var seen = Sights()

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        core = UnstoredSteps.core(journal.beginIncarnation())
    }

    private static func core(_ incarnation: CoordinatorIncarnation) -> CoordinatorCore {
        CoordinatorCore(incarnation: incarnation, secret: [1, 2, 3], node: NodeID(rawValue: 1), name: "own")
    }

    mutating func run() throws {
        joinAll()
        change { _ = try? $0.submit(CoordinatorStory.scan(), token: nil, as: JobID(rawValue: 7)) }
        try store(unstored.count)
        for _ in 0..<60 where violations.isEmpty {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: try crash()
            case 1...9: try finish(at: Int.random(in: 0..<2, using: &random))
            case 10...16: try deliver(from: Int.random(in: 0..<2, using: &random))
            default: try store(Int.random(in: 0...unstored.count, using: &random))
            }
        }
        for _ in 0..<100 where violations.isEmpty && journal.jobs[job]?.report == nil {
            for node in nodes.indices {
                try finish(at: node)
                try deliver(from: node)
            }
            try store(unstored.count)
            now += .seconds(1)
            change { $0.tick() }
        }
        violations += journal.violations
        if journal.jobs[job]?.report?.state != .done { violations.append("it never ended") }
    }

    private mutating func change(_ event: (inout CoordinatorCore) -> Void) {
        now += .milliseconds(10)
        follow(core.carryOut(at: now, event))
        for node in nodes.map(\.id) {
            while let request = core.nextReservation(for: node) {
                let lease = lease(min(2, request.wanted))
                follow(core.carryOut(at: now) { $0.reserved(lease, on: node) })
            }
        }
    }

    private func lease(_ slots: Int) -> Lease {
        Lease(coordinator: UnstoredSteps.coordinator, fencingToken: 1, slots: slots)
    }

    private mutating func follow(_ done: CarriedOut) {
        unstored += done.entries
        for (request, node) in done.assigned {
            nodes[node == nodes[0].id ? 0 : 1].running.append(request)
            if unstored.contains(where: \.isResult), request.attempt.task.index > 0 { seen.early += 1 }
        }
        for (attempt, node) in done.stopped {
            let place = node == nodes[0].id ? 0 : 1
            guard let stopped = nodes[place].running.firstIndex(where: { $0.attempt == attempt }) else { continue }
            end(nodes[place].running.remove(at: stopped), .refused("stopped"), at: place, took: .zero)
        }
    }

    private mutating func end(_ request: RunRequest, _ outcome: AttemptOutcome, at node: Int, took duration: Duration) {
        nodes[node].sequence += 1
        nodes[node].results.append(
            AttemptResult(
                sequence: nodes[node].sequence, attempt: request.attempt, outcome: outcome, duration: duration,
                receipt: request.receipt))
    }

    private mutating func joinAll() {
        for node in nodes {
            change { $0.joined(node.id, name: "\(node.id)", isDraining: false) }
        }
    }

    /// The coordinator is lost with what it had not stored, or with a part of that, and begins again.
    private mutating func crash() throws {
        seen.crashes += 1
        if Bool.random(using: &random) { try append(Int.random(in: 0...unstored.count, using: &random)) }
        unstored = []
        core = UnstoredSteps.core(journal.beginIncarnation())
        for id in journal.order {
            guard let job = journal.jobs[id] else { continue }
            let replay = journal.replay(job, isRisky: false)
            change { $0.restore(job, replay) }
        }
        joinAll()
        // Each node may be heard at once, or later.
        for node in nodes.indices where Bool.random(using: &random) { try deliver(from: node) }
    }

    /// An attempt ends on a node.
    private mutating func finish(at node: Int) throws {
        guard !nodes[node].running.isEmpty else { return }
        let request = nodes[node].running.remove(at: Int.random(in: nodes[node].running.indices, using: &random))
        let duration = Duration.microseconds(questions.count + 1)
        questions[duration] = try WireCoder.encode(request.task)
        end(
            request, .done(try WireCoder.encode(TaskResult.sky(result(of: request.task)))), at: node, took: duration)
    }

    /// Somebody writes to the image all the time: every reader finds another one.
    private mutating func result(of task: ScanTask) throws -> SkyResult {
        switch task.work.sky {
        case .inspect:
            let width = 64 * Int.random(in: 1...3, using: &random)
            return .inspected(ImageInfo(width: width, height: 64, bitpix: -32, hdu: 0, hasWCS: false))
        case .background(_, let sector, let configuration):
            let level = Float.random(in: 100...200, using: &random)
            let pixels = (0..<sector.core.width * sector.core.height).map { level + Float($0 % 7) }
            return .background(try BackgroundTile(pixels: pixels, sector: sector, configuration: configuration))
        case .extract(_, let sector, _, _): return .extracted(SectorResult(sector: sector.index))
        default: throw SkyError(.failed, "\(task.label) is not asked for here")
        }
    }

    /// A node says what it has and what it runs. It keeps all results, as one does whose acknowledgements are lost.
    private mutating func deliver(from node: Int) throws {
        let (id, results, running) = (nodes[node].id, nodes[node].results, nodes[node].running)
        for result in results where result.attempt.generation < core.dispatch.incarnation.generation {
            guard let task = core.jobs[job]?.plan.task(result.attempt.task.index),
                core.jobs[job]?.isActive == true,
                core.dispatch.scheduler.jobs.isOpen(result.attempt.task.index, of: job)
            else { continue }
            if try WireCoder.encode(task) != questions[result.duration] { seen.stale += 1 }
        }
        change { core in
            let request =
                core.nextCollection(from: id)
                ?? CollectRequest(
                    incarnation: core.dispatch.incarnation, received: 0, acknowledged: 0, fencingToken: 1,
                    isFirst: false)
            core.collected(
                CollectReply(
                    results: results, lease: nil, attempts: running.map(\.attempt),
                    receipts: running.map { $0.receipt ?? 0 }), request, from: id)
        }
    }

    private mutating func store(_ count: Int) throws {
        try append(count)
        change { $0.stored(count, in: nil) }
    }

    private mutating func append(_ count: Int) throws {
        for entry in unstored.prefix(count) {
            if case .result(let result) = entry, let stored = journal.jobs[result.job] {
                let task = journal.replay(stored, isRisky: false).plan.task(result.task.index)
                if try task.map({ try WireCoder.encode($0) }) != questions[result.duration] {
                    violations.append("task \(result.task.index) answers another question")
                }
            }
            journal.append([entry])
        }
        unstored.removeFirst(count)
    }
}
