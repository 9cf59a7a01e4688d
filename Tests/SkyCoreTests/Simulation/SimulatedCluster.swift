import SkyCore
import Transport

/// Several coordinators and nodes in virtual time, with everything that goes wrong in a real network: tasks that fail,
/// nodes that crash and come back under another id, links that break, leases that run out, results that arrive late.
///
/// One seed is one history. After every step the nodes and the coordinators check what they were promised.
struct SimulatedCluster {
    static let leaseDuration: Duration = .seconds(1)

    /// What is to happen, and to whom.
    enum Happening {
        case told(coordinator: NodeID, JobScheduler.Event, by: SimulatedLink?)
        case woken(coordinator: NodeID)
        case reserved(Int, by: SimulatedLink)
        case started(AttemptID, by: SimulatedLink)
        case stopped(AttemptID, node: NodeID)
        case ended(AttemptID, node: NodeID, AttemptFailure?)
        case renewed(by: SimulatedLink)
        case expiryChecked(node: NodeID)
        case crashed(node: NodeID)
        case joined(slots: Int)
        case linkBroken(coordinator: NodeID, node: NodeID)
        case linkMade(coordinator: NodeID, node: NodeID)
        case coordinatorForgotten(NodeID, node: NodeID)
        case coordinatorCrashed(NodeID)
    }

    private(set) var now: Duration = .zero
    private(set) var steps = 0
    var random: SplitMix64
    var nodes: [NodeID: SimulatedNode] = [:]
    var coordinators: [NodeID: SimulatedCoordinator] = [:]
    var violations: [String] = []
    var lastLink = 0
    /// The latest first, so that the next is taken from the end.
    private var queue: [(due: Duration, happening: Happening)] = []

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    mutating func schedule(_ happening: Happening, after delay: Duration) {
        let due = now + delay
        var (low, high) = (0, queue.count)
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].due > due { low = middle + 1 } else { high = middle }
        }
        queue.insert((due, happening), at: low)
    }

    /// Runs until nothing is left to happen, something is wrong, or `limit` steps have been taken.
    mutating func run(limit: Int) {
        while violations.isEmpty, let next = queue.popLast() {
            now = next.due
            steps += 1
            guard steps <= limit else { return violations.append("still busy after \(limit) steps, at \(now)") }
            perform(next.happening)
            violations += nodes.values.compactMap(\.violation)
        }
        if violations.isEmpty { checkEnd() }
    }

    /// Everything has ended and everything was given back.
    private mutating func checkEnd() {
        for coordinator in coordinators.values where !coordinator.unfinished.isEmpty {
            let stuck = coordinator.unfinished.map { "\(String(describing: coordinator.scheduler.progress(of: $0)))" }
            violations.append("jobs never ended: \(stuck)")
        }
        for node in nodes.values where node.book.running != 0 || node.book.free != node.slots {
            violations.append("node \(node.id) kept \(node.book.running) running, \(node.book.free) free")
        }
    }

    mutating func delay(_ milliseconds: ClosedRange<Int>) -> Duration {
        .microseconds(Int.random(in: milliseconds.lowerBound * 1000...milliseconds.upperBound * 1000, using: &random))
    }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }
}
