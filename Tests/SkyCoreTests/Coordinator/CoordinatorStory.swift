import Base
import NIOCore
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// A coordinator by hand: says what happened, and looks at what is to be done about it.
struct CoordinatorStory {
    let own = NodeID(rawValue: 1)
    let other = NodeID(rawValue: 2)
    var core: CoordinatorCore
    /// Everything that was done so far.
    private(set) var done = CarriedOut()
    private var now: Duration = .zero
    private var wall: UInt64 = 1_000_000
    private var sequences: [NodeID: UInt64] = [:]

    init(generation: UInt64 = 2, retention: JobRetention = JobRetention()) {
        core = CoordinatorCore(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: generation), secret: [1, 2, 3],
            node: own,
            name: "own", retention: retention)
        change { core in
            core.joined(NodeID(rawValue: 1), name: "own", isDraining: false)
            core.joined(NodeID(rawValue: 2), name: "other", isDraining: false)
        }
    }

    mutating func change(_ body: (inout CoordinatorCore) -> Void) { done += core.carryOut(at: now, wall: wall, body) }

    /// Lets time pass; the wall clock may be set meanwhile.
    mutating func pass(_ time: Duration, clockJumps: Duration = .zero) {
        now += time
        wall = UInt64(max(0, Int64(wall) + Int64((time + clockJumps) / .milliseconds(1))))
        change { $0.tick() }
    }

    mutating func submit(
        _ request: JobRequest, token: String? = nil, as id: UInt64 = 7, isUser: Bool = false
    ) throws -> JobID {
        var result = Result<JobID, any Error>.success(JobID(rawValue: id))
        change { core in
            result = Result {
                try core.submit(request, token: token, as: JobID(rawValue: id), isUser: isUser)
            }
        }
        return try result.get()
    }

    mutating func lease(_ slots: Int, on node: NodeID, fencingToken: UInt64 = 1) {
        let lease = Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: fencingToken, slots: slots)
        change { $0.reserved(lease, on: node) }
    }

    /// A node delivers an attempt's end.
    mutating func deliver(
        _ attempt: AttemptID, _ outcome: AttemptOutcome, from node: NodeID, receipt: UInt64? = nil,
        took duration: Duration = .zero
    ) {
        sequences[node, default: 0] += 1
        let result = AttemptResult(
            sequence: sequences[node] ?? 0, attempt: attempt, outcome: outcome, duration: duration, receipt: receipt)
        change { $0.deliver([result], from: node) }
    }

    /// Stores everything that was decided.
    mutating func store() { change { $0.storeAll() } }

    /// Attempts sent out so far, with where.
    var assigned: [(request: RunRequest, node: NodeID)] { done.assigned }

    /// Jobs deleted so far.
    var deleted: [JobID] { done.deleted }

    /// Results given out to be stored so far.
    var results: [StoredResult] { done.results }

    static func simulation(_ tasks: Int) -> JobRequest {
        JobRequest(.simulate(SimulateRequest(tasks: tasks, duration: .seconds(1))))
    }

    static func scan(_ path: String = "/x.fits") -> JobRequest {
        var configuration = ScanConfiguration()
        configuration.sectorSize = 64
        var request = SkyRequest(image: ImageReference(path: path, hdu: nil), configuration: configuration)
        request.usesCache = false
        return JobRequest(.sky(request))
    }
}

/// What followed from events, as nodes, the journal and watchers saw it.
struct CarriedOut {
    /// Attempts that were sent, with where.
    var assigned: [(request: RunRequest, node: NodeID)] = []
    /// Attempts that were stopped, with where.
    var stopped: [(attempt: AttemptID, node: NodeID)] = []
    /// Entries that were given out to be stored.
    var entries: [JournalEntry] = []
    var searches: [(job: JobID, tasks: Range<Int>)] = []
    var published: [JobID] = []
    var distrusted: [NodeID] = []

    /// Jobs that were deleted.
    var deleted: [JobID] { entries.compactMap { if case .deleted(let job) = $0 { job } else { nil } } }

    /// Results that are to be stored.
    var results: [StoredResult] { entries.compactMap { if case .result(let result) = $0 { result } else { nil } } }

    static func += (all: inout CarriedOut, next: CarriedOut) {
        all.assigned += next.assigned
        all.stopped += next.stopped
        all.entries += next.entries
        all.searches += next.searches
        all.published += next.published
        all.distrusted += next.distrusted
    }
}

extension CoordinatorCore {
    /// Lets an event happen, and takes what is to be sent to nodes and to be stored.
    mutating func carryOut(
        at now: Duration = .zero, wall: UInt64 = 0, _ event: (inout CoordinatorCore) -> Void
    ) -> CarriedOut {
        var done = CarriedOut()
        for output in at(now, wall: wall, event) {
            switch output {
            case .effect(.call(let call)) where call.kind == .assign:
                while let assignment = nextAssignment(for: call.node) {
                    done.assigned += assignment.attempts.map { ($0, call.node) }
                    done.stopped += assignment.stop.map { ($0, call.node) }
                }
            case .effect(.write):
                while let entries = nextEntries(looksAtDisk: false) { done.entries += entries }
            case .effect(.lookUp(let job, let tasks, _)): done.searches.append((job, tasks))
            case .effect(.call), .effect(.wake), .refused: break
            case .published(let job): done.published.append(job)
            case .distrusted(let node, _): done.distrusted.append(node)
            }
        }
        return done
    }

    /// Stores everything that was decided; the journal then holds so many bytes.
    mutating func storeAll(in journal: JournalRoom? = nil) {
        stored(Int(writeAhead.lastEntry - writeAhead.lastStored), in: journal)
    }

    /// A node delivers results, and its lease is as it was.
    mutating func deliver(_ results: [AttemptResult], from node: NodeID) { answer(results, from: node) }

    /// A node says what it runs.
    mutating func claim(_ attempts: [AttemptID], _ receipts: [UInt64]?, on node: NodeID) {
        answer([], attempts, receipts, from: node)
    }

    private mutating func answer(
        _ results: [AttemptResult], _ attempts: [AttemptID]? = nil, _ receipts: [UInt64]? = nil, from node: NodeID
    ) {
        let incarnation = dispatch.incarnation
        let request =
            nextCollection(from: node)
            ?? CollectRequest(incarnation: incarnation, received: 0, acknowledged: 0, fencingToken: 0, isFirst: false)
        let lease = Lease(coordinator: incarnation.coordinator, fencingToken: request.fencingToken, slots: 0)
        collected(
            CollectReply(
                results: results, lease: request.fencingToken > 0 ? lease : nil, attempts: attempts,
                receipts: receipts),
            request, from: node)
    }
}
