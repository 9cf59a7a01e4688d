import Distributed
import NIOCore
import Transport

@testable import SkyCore
@testable import SkyJobs

/// What a false member says instead of the truth.
enum Lie: String, CaseIterable, Sendable {
    case endlessDuration, negativeDuration, hugeSequence, noSequence, hugeNumber, noNumber, laterGeneration
    case negativeTask, hugeTask, otherJob, hugeLease, negativeLease, foreignLease, longReason, garbage, otherAnswer
    case twice, claimsHugeNumbers, claimsAllTasks, foreignReceipts, refusesAll, superseded, duplicate, swallows, silent
    case noAnswer, wrongType

    /// What it makes of an honest answer.
    func reply(_ honest: CollectReply, to request: CollectRequest) -> CollectReply {
        var reply = honest
        let first = reply.results.first
        func change(_ body: (inout AttemptResult) -> Void) {
            for index in reply.results.indices { body(&reply.results[index]) }
        }
        switch self {
        case .endlessDuration: change { $0.duration = Duration(secondsComponent: 1 << 40, attosecondsComponent: 0) }
        case .negativeDuration: change { $0.duration = Duration(secondsComponent: .min, attosecondsComponent: 0) }
        case .hugeSequence: change { $0.sequence = .max }
        case .noSequence: change { $0.sequence = 0 }
        case .hugeNumber: change { $0.attempt.number = .max }
        case .noNumber: change { $0.attempt.number = .min }
        case .laterGeneration: change { $0.attempt.generation += 1 }
        case .negativeTask: change { $0.attempt.task = TaskID(.min) }
        case .hugeTask: change { $0.attempt.task = TaskID(.max) }
        case .otherJob: change { $0.attempt.job = JobID(rawValue: .max) }
        case .hugeLease: reply.lease?.slots = .max
        case .negativeLease: reply.lease?.slots = .min
        case .foreignLease: reply.lease?.coordinator = CoordinatorID(rawValue: 1)
        case .longReason: change { $0.outcome = .fault(String(repeating: "x", count: 1 << 20)) }
        case .garbage: change { $0.outcome = .done(ByteBuffer(repeating: 255, count: 1 << 16)) }
        case .otherAnswer:
            change { $0.outcome = .done((try? WireCoder.encode(TaskResult.pixels(ByteBuffer()))) ?? ByteBuffer()) }
        case .twice: if let first { reply.results.append(first) }
        case .claimsHugeNumbers:
            reply.attempts = [AttemptID(job: JobID(rawValue: 1), task: 0, number: .max, generation: .max)]
        case .claimsAllTasks:
            // Attempts of any job, in the earlier incarnation of the coordinator.
            reply.attempts = first.map { result in
                (0..<100).map { AttemptID(job: result.attempt.job, task: TaskID($0), number: 1, generation: 1) }
            }
            reply.receipts = reply.attempts?.map { _ in 4711 }
        case .foreignReceipts: change { $0.receipt = 4711 }
        case .refusesAll: change { $0.outcome = .refused("not today") }
        case .swallows, .silent: reply.results = []
        case .superseded, .duplicate, .noAnswer, .wrongType: break
        }
        return reply
    }

    /// What it throws instead of an answer.
    var rejection: WorkBook.Rejection? {
        switch self {
        case .superseded: .superseded
        case .duplicate: .duplicate
        default: nil
        }
    }
}

/// Stands where a node's `ScanActor` should: speaks the protocol as a member with the key would, and lies.
distributed actor FalseScanActor: ClusterActor {
    typealias ActorSystem = ClusterSystem

    static let methods = MethodTable(
        [
            Method("status") { (actor: isolated FalseScanActor) in try await actor.answer(to: "status") },
            Method("reserve") { (actor: isolated FalseScanActor, argument: ReserveRequest) in
                try actor.reserve(argument)
            },
            Method("assign") { (actor: isolated FalseScanActor, argument: Assignment) in try actor.assign(argument) },
            Method("collect") { (actor: isolated FalseScanActor, argument: CollectRequest) in
                try await actor.collect(argument)
            },
            Method("drain") { (actor: isolated FalseScanActor, argument: Bool) in },
        ], errors: [DeclaredError("WorkBook.Rejection", WorkBook.Rejection.self)])

    private let lie: Lie
    private var book = WorkBook(slots: 4, leaseDuration: .seconds(600))
    private var hasAnswers = Latch()

    init(_ lie: Lie, actorSystem: ClusterSystem) {
        self.actorSystem = actorSystem
        self.lie = lie
    }

    private var caller: NodeID { CallOrigin.peer ?? actorSystem.node }

    private func answer(to question: String) async throws -> NodeStatus {
        NodeStatus(
            node: actorSystem.node, name: question, version: question, slots: 4, running: 0, completed: 0, failed: 0,
            uptime: .zero, load: .zero)
    }

    private func reserve(_ request: ReserveRequest) throws -> Lease {
        if let rejection = lie.rejection { throw rejection }
        var lease = try book.reserve(request.wanted, by: request.incarnation, from: caller, now: .zero).lease
        if lie == .hugeLease { lease.slots = .max }
        return lease
    }

    private func assign(_ assignment: Assignment) throws {
        if let rejection = lie.rejection { throw rejection }
        // It takes the attempts, and never reports anything about them.
        if lie == .swallows { return }
        var start = try book.assign(assignment, from: caller, now: .zero).start
        let done = (try? WireCoder.encode(TaskResult.simulated)) ?? ByteBuffer()
        while let request = start.popLast() {
            start += book.recordEnd(of: request.attempt, .success(done), .milliseconds(1), now: .zero).start
        }
        hasAnswers.open()
        hasAnswers = Latch()
    }

    private func collect(_ request: CollectRequest) async throws -> CollectReply {
        if let rejection = lie.rejection { throw rejection }
        if lie == .noAnswer { await Latch().wait(atMost: .seconds(600)) }
        var honest = try book.collect(request, from: caller, limit: 1 << 20, now: .zero).collection
        if honest.results.isEmpty, !request.isFirst {
            let latch = hasAnswers
            await latch.wait(atMost: .milliseconds(50))
            honest = try book.collect(request, from: caller, limit: 1 << 20, now: .zero).collection
        }
        return lie.reply(honest, to: request)
    }
}
