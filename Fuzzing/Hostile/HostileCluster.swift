import NIOCore

@testable import SkyCore
@testable import Transport

/// A coordinator and all that happens to it, as the bytes of a run say.
struct HostileCluster {
    var input: FuzzInput
    var core: CoordinatorCore
    var now: Duration = .zero
    var wall: UInt64 = 1_800_000_000_000
    /// Attempts that nodes have, and may answer.
    var running: [(request: RunRequest, node: NodeID)] = []
    var searches: [(job: JobID, tasks: Range<Int>, plan: any JobPlan)] = []
    var journal = KeptJournal()
    var sequences: [NodeID: UInt64] = [:]
    var submitted = 0

    static let own = NodeID(rawValue: 1)
    static let nodes: [NodeID] = [own, NodeID(rawValue: 2), NodeID(rawValue: 3), NodeID(rawValue: .max)]
    static let names = ["anna", "berta", "carla", "dora"]
    static let coordinator = CoordinatorID(rawValue: 5)
    private static let runningLimit = 128

    init(_ input: FuzzInput) {
        self.input = input
        let incarnation = CoordinatorIncarnation(HostileCluster.coordinator, generation: 2)
        core = CoordinatorCore(incarnation: incarnation, secret: [1, 2, 3], node: HostileCluster.own, name: "anna")
        join()
    }

    /// Two nodes with some slots join, as at the start of most coordinators.
    mutating func join() {
        for (node, name) in zip(HostileCluster.nodes.prefix(2), HostileCluster.names) {
            change { $0.joined(node, name: name, isDraining: false) }
            change { $0.reserved(Lease(coordinator: HostileCluster.coordinator, fencingToken: 1, slots: 3), on: node) }
        }
    }

    mutating func node() -> NodeID { input.choice(of: HostileCluster.nodes) }

    mutating func job() -> JobID {
        guard !core.jobs.order.isEmpty, let choice = input.peek, choice < 240 else {
            return JobID(rawValue: input.hostileUnsigned())
        }
        return input.choice(of: core.jobs.order)
    }

    /// Changes the core as `Coordinator` does.
    mutating func change(_ body: (inout CoordinatorCore) -> Void) {
        let start = RunLimit.processorTime()
        let outputs = core.at(now, wall: wall, body)
        RunLimit.brief.check(since: start)
        for case .effect(let effect) in outputs { carryOut(effect) }
    }

    private mutating func carryOut(_ effect: CoordinatorEffect) {
        switch effect {
        case .call(let call) where call.kind == .reserve:
            while let request = core.nextReservation(for: call.node) {
                require((try? request.validate()) != nil, "what is wanted of a node may be wanted: \(request)")
            }
        case .call(let call) where call.kind == .assign:
            while let assignment = core.nextAssignment(for: call.node) { send(assignment, to: call.node) }
        case .lookUp(let job, let tasks, let plan): searches.append((job, tasks, plan))
        // What there is to store, and to collect, is looked at when a step says so.
        case .call, .write, .wake: break
        }
    }

    private mutating func send(_ assignment: Assignment, to node: NodeID) {
        do {
            try assignment.validate()
        } catch {
            fatalError("does not hold: a node takes what a coordinator sends: \(error)")
        }
        for request in assignment.attempts { running.append((request, node)) }
        running.removeFirst(max(0, running.count - HostileCluster.runningLimit))
        let stopped = Set(assignment.stop)
        guard !stopped.isEmpty else { return }
        let ended = running.filter { $0.node == node && stopped.contains($0.request.attempt) }
        running.removeAll { $0.node == node && stopped.contains($0.request.attempt) }
        // Some of them are heard of later.
        for end in ended where input.bool() { running.append(end) }
    }

    /// Checks that what does not end does not grow.
    func checkSizes() {
        require(core.jobs.count <= submitted, "as many jobs as were submitted")
        require(core.jobs.order.count == core.jobs.count, "each job in its place")
        require(
            core.jobs.activeCount >= 0 && core.jobs.activeCount <= core.jobs.count,
            "jobs that go on: \(core.jobs.activeCount)")
        require(core.outbox.isEmpty, "all is said")
        require(
            core.dispatch.nodes.deliveries.count <= KnownNodes.goneLimit + HostileCluster.nodes.count,
            "few nodes are remembered"
        )
    }
}
