import Base
import NIOCore
import Transport

@testable import Sky
@testable import SkyCore

/// A coordinator by hand: says what happened, and looks at what is to be done about it.
struct CoordinatorStory {
    let own = NodeID(rawValue: 1)
    let other = NodeID(rawValue: 2)
    var core: CoordinatorCore
    /// All that was to be done so far.
    private(set) var outputs: [CoordinatorCore.Output] = []
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

    mutating func change(_ body: (inout CoordinatorCore) -> Void) { outputs += core.at(now, wall: wall, body) }

    /// Time passes; the clock on the wall may be set meanwhile.
    mutating func pass(_ time: Duration, clockJumps: Duration = .zero) {
        now += time
        wall = UInt64(max(0, Int64(wall) + Int64((time + clockJumps) / .milliseconds(1))))
        change { $0.tick() }
    }

    mutating func submit(_ request: JobRequest, token: String? = nil, as id: UInt64 = 7) throws -> JobID {
        var result = Result<JobID, SkyError>.success(JobID(rawValue: id))
        change { core in
            result = Result { () throws(SkyError) in try core.submit(request, token: token, as: JobID(rawValue: id)) }
        }
        return try result.get()
    }

    mutating func lease(_ slots: Int, on node: NodeID, epoch: UInt64 = 1) {
        change { $0.leased(Lease(coordinator: CoordinatorID(rawValue: 5), epoch: epoch, slots: slots), on: node) }
    }

    /// A node delivers an attempt's end.
    mutating func deliver(
        _ attempt: AttemptID, _ outcome: AttemptOutcome, from node: NodeID, receipt: UInt64? = nil,
        took duration: Duration = .zero
    ) {
        sequences[node, default: 0] += 1
        let result = AttemptResult(
            sequence: sequences[node] ?? 0, attempt: attempt, outcome: outcome, duration: duration, receipt: receipt)
        change { $0.collected([result], from: node) }
    }

    /// All that was decided is stored.
    mutating func store() {
        change { core in
            core.stored(core.lastEntry)
            core.journalWorks(nil)
        }
    }

    /// Attempts sent out so far, with where.
    var assigned: [(request: RunRequest, node: NodeID)] {
        outputs.compactMap { if case .assign(let request, let node) = $0 { (request, node) } else { nil } }
    }

    /// Jobs deleted so far.
    var deleted: [JobID] { outputs.compactMap { if case .store(.deleted(let job)) = $0 { job } else { nil } } }

    /// Results stored so far.
    var results: [StoredResult] {
        outputs.compactMap { if case .store(.result(let result)) = $0 { result } else { nil } }
    }

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
