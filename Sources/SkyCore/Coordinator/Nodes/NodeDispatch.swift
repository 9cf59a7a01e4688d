import Base
import DequeModule
import Transport

/// Which node does what, as a value: the scheduler, what is known of the nodes, what they are to prove, and the calls to them.
///
/// An event of a node comes to calls that are to be begun and to events of the scheduler (`Consequence`). The scheduler's events
/// are worked through one after the other, each with all its actions, so that everything is done in the order in which it was
/// decided: `enqueue`, then `nextActions` until there are none.
struct NodeDispatch {
    /// What follows from an event: first the calls, then what the scheduler is to be told, in order.
    struct Consequence {
        var calls: [NodeCalls.Call] = []
        var events: [JobScheduler.Event] = []
    }

    let incarnation: CoordinatorIncarnation
    /// The coordinator's own node.
    let own: NodeID
    let receipts: AttemptReceipts
    private(set) var scheduler: JobScheduler
    private(set) var nodes: KnownNodes
    private var calls: NodeCalls
    private var events: Deque<JobScheduler.Event> = []
    private var isDeciding = false
    /// As the scheduler was told.
    private var isSuspended = false

    /// - Parameter secret: by which results of earlier incarnations are known; see `AttemptReceipts`.
    init(incarnation: CoordinatorIncarnation, secret: [UInt8], own: NodeID, name: String) {
        self.incarnation = incarnation
        self.own = own
        receipts = AttemptReceipts(secret: secret)
        scheduler = JobScheduler(localNode: own, generation: incarnation.generation, seed: own.rawValue)
        nodes = KnownNodes(own: own, name: name)
        calls = NodeCalls(incarnation: incarnation)
    }

    // MARK: - The scheduler

    /// Puts an event in its place in the line.
    ///
    /// - Returns: whether the caller is to carry out the actions that follow: nobody does so yet.
    mutating func enqueue(_ event: JobScheduler.Event) -> Bool {
        events.append(event)
        defer { isDeciding = true }
        return !isDeciding
    }

    /// What is to be done about the next event; `nil` where there is none, which ends the turn.
    mutating func nextActions(now: Duration) -> [JobScheduler.Action]? {
        guard let event = events.popFirst() else {
            isDeciding = false
            return nil
        }
        return scheduler.handle(event, now: now)
    }

    /// Whether nothing new is to be sent out.
    ///
    /// - Returns: whether that is new to the scheduler.
    mutating func suspend(_ isSuspended: Bool) -> Bool {
        defer { self.isSuspended = isSuspended }
        return isSuspended != self.isSuspended
    }

    // MARK: - Members

    /// A node can be given work. Another one is asked what it has of this coordinator's; the own one began with it, and has
    /// nothing.
    mutating func join(
        _ node: NodeID, name: String, version: String, isDraining: Bool, now: Duration
    ) -> Consequence {
        var consequence = Consequence(calls: node == own ? [] : calls.join(node))
        if nodes.joined(node, name: name, now: now) {
            consequence.events.append(
                .nodeJoined(node, name: name, measuresAlike: SkyNetVersion.measuresAlike(version)))
        }
        consequence.events.append(.nodeDraining(node, isDraining))
        return consequence
    }

    /// A node is gone.
    mutating func lose(_ node: NodeID, now: Duration) -> Consequence {
        calls.lose(node)
        return Consequence(events: nodes.lost(node, now: now) ? [.nodeLost(node)] : [])
    }

    /// A node has answered what makes no sense. Nothing that it says is used from now on: its tasks are tried elsewhere.
    ///
    /// - Returns: `nil` where that is known.
    mutating func distrust(_ node: NodeID, now: Duration) -> Consequence? {
        calls.lose(node)
        return nodes.distrust(node, now: now) ? Consequence(events: [.nodeLost(node)]) : nil
    }

    /// A node does not listen to this coordinator, or does again (`nil`).
    ///
    /// - Returns: whether that is new.
    mutating func refuse(_ node: NodeID, _ reason: String?) -> Bool { nodes.refuses(node, reason) }

    /// Whether a node is a member, as far as is known here.
    func isPresent(_ node: NodeID) -> Bool { nodes.present.contains(node) }

    /// The feed of members begins (again): those that left unheard are gone.
    func unheard(_ members: Set<NodeID>) -> Set<NodeID> {
        nodes.present.union(nodes.distrusted).subtracting(members).subtracting([own])
    }

    /// What people call a node.
    func name(of node: NodeID) -> String { nodes.name(of: node) ?? node.description }

    /// The scheduler knows nodes by their ids, people by their names.
    func withNames(_ reason: FailureReason) -> String { reason.text { nodes.name(of: $0) } }

    /// Attempts of a job under way, by the names of their nodes.
    func runningByName(_ job: JobID) -> [String: Int] {
        var running: [String: Int] = [:]
        for (node, count) in scheduler.runningByNode(job) { running[name(of: node)] = count }
        return running
    }

    // MARK: - Attempts

    /// What is sent to a node to have it run an attempt.
    func request(_ attempt: AttemptID, _ task: ScanTask, timeLimit: Duration, on node: NodeID) -> RunRequest {
        var task = task
        if scheduler.hasFailed(before: attempt) { task.rehearsal.failsFirstAttempt = false }
        var request = RunRequest(attempt: attempt, task: task, timeLimit: timeLimit)
        request.receipt = receipts.receipt(for: attempt, on: node)
        return request
    }

    /// Whether an attempt was sent to that node in this incarnation or an earlier one.
    ///
    /// - Parameter since: the first generation whose attempts count; `nil` for any.
    func isProven(_ attempt: AttemptID, on node: NodeID, _ receipt: UInt64?, since: UInt64?) -> Bool {
        guard let receipt, attempt.generation <= incarnation.generation else { return false }
        if let since, attempt.generation < since { return false }
        return receipts.receipt(for: attempt, on: node) == receipt
    }

    /// Whether a node's word on an attempt counts: what is known to run there needs no proof.
    func isBelievable(_ attempt: AttemptID, on node: NodeID, _ receipt: UInt64?, since: UInt64?) -> Bool {
        scheduler.isRunning(attempt, on: node) || isProven(attempt, on: node, receipt, since: since)
    }

    // MARK: - Results

    /// A node has answered a collection.
    ///
    /// - Returns: whether its lease has been lost.
    mutating func collect(_ reply: CollectReply, _ request: CollectRequest, from node: NodeID) -> Bool {
        nodes.deliver(node) { $0.heard(request.acknowledged) }
        return calls.collected(reply, request, from: node)
    }

    /// Whether a result has not arrived before: each counts once, however often it is sent.
    mutating func receive(_ result: AttemptResult, from node: NodeID) -> Bool {
        nodes.deliver(node) { delivery in
            guard delivery.receive(result.sequence) else { return false }
            delivery.unsaid += result.byteCount
            return true
        }
    }

    /// What followed from all that has arrived from a node rests on this entry.
    mutating func restResults(of node: NodeID, on entry: UInt64, stored: UInt64) {
        nodes.deliver(node) { delivery in
            delivery.rests(on: entry)
            delivery.stored(stored)
        }
    }

    /// Everything up to this entry is stored: nodes may forget what rests on it.
    mutating func store(upTo entry: UInt64) -> [NodeCalls.Call] {
        var due: [NodeID] = []
        nodes.stored(entry) { due.append($0) }
        return due.flatMap { calls.acknowledge($0) }
    }

    // MARK: - Calls

    mutating func reserve(_ slots: Int, on node: NodeID) -> [NodeCalls.Call] { calls.reserve(slots, on: node) }

    mutating func assign(_ request: RunRequest, to node: NodeID) -> [NodeCalls.Call] { calls.assign(request, to: node) }

    mutating func stop(_ attempt: AttemptID, on node: NodeID) -> [NodeCalls.Call] { calls.stop(attempt, on: node) }

    /// A node has answered a demand.
    mutating func reserved(_ lease: Lease, on node: NodeID) -> Consequence {
        consequence(of: lease, on: node, isNew: calls.reserved(lease, on: node))
    }

    /// A node tells of its lease with what else it has to say.
    mutating func leased(_ lease: Lease, on node: NodeID) -> Consequence {
        consequence(of: lease, on: node, isNew: calls.leased(lease, on: node))
    }

    private func consequence(of lease: Lease, on node: NodeID, isNew: Bool) -> Consequence {
        Consequence(events: isNew ? [.leased(node, slots: lease.slots, epoch: lease.epoch)] : [])
    }

    /// A demand may not have arrived.
    mutating func reservationFailed(on node: NodeID) { calls.reservationFailed(for: node) }

    /// Attempts could not be sent. Where they may have arrived all the same, the node is asked what came of them.
    mutating func assignmentFailed(
        _ attempts: [AttemptID], on node: NodeID, _ failure: AttemptFailure
    ) -> Consequence {
        var consequence = Consequence()
        if case .nodeLost = failure { consequence.calls = calls.assignmentIsUncertain(for: node) }
        consequence.events = attempts.map { .failed($0, on: node, failure) }
        return consequence
    }

    /// What a node is to be told now; `nil` where it knows, which ends the telling.
    mutating func nextReservation(for node: NodeID) -> ReserveRequest? { calls.nextReservation(for: node) }

    /// What is to be sent to a node now; `nil` where nothing is, which ends the sending.
    mutating func nextAssignment(for node: NodeID) -> Assignment? {
        calls.nextAssignment(for: node, acknowledged: nodes.deliveries[node]?.acknowledged ?? 0)
    }

    /// What to ask a node for next; `nil` where nothing is to be expected from it, which ends the asking.
    mutating func nextCollection(from node: NodeID) -> CollectRequest? {
        calls.nextCollection(
            from: node, isPresent: isPresent(node), running: scheduler.running(on: node),
            nodes.deliveries[node] ?? Delivery())
    }
}
