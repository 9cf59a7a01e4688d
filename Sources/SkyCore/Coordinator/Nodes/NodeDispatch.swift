import Base
import DequeModule
import Transport

/// Decides which node does what, as a value. It holds the scheduler, the knowledge of the nodes, the receipts of attempts, and the
/// calls to nodes.
///
/// An event of a node results in calls to begin and in events for the scheduler (`Consequence`). The scheduler's events are handled
/// one after the other, each with all its actions, so that everything is done in the order in which it was decided: `enqueue`, then
/// `nextActions` until there are none.
struct NodeDispatch {
    /// The consequence of an event: first the calls, then the events for the scheduler, in order.
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
    /// Whether the scheduler has been told to send out nothing new.
    private var isSuspended = false

    /// - Parameter secret: the secret that proves results of earlier incarnations; see `AttemptReceipts`.
    init(incarnation: CoordinatorIncarnation, secret: [UInt8], own: NodeID, name: String) {
        self.incarnation = incarnation
        self.own = own
        receipts = AttemptReceipts(secret: secret)
        scheduler = JobScheduler(localNode: own, generation: incarnation.generation, seed: own.rawValue)
        nodes = KnownNodes(own: own, name: name)
        calls = NodeCalls(incarnation: incarnation)
    }

    // MARK: - The scheduler

    /// Adds an event at the end of the queue.
    ///
    /// - Returns: whether the caller has to carry out the actions that follow, because nobody does so yet.
    mutating func enqueue(_ event: JobScheduler.Event) -> Bool {
        events.append(event)
        defer { isDeciding = true }
        return !isDeciding
    }

    /// The actions that follow from the next event; `nil` where there is no event, which ends the turn.
    mutating func nextActions(now: Duration) -> [JobScheduler.Action]? {
        guard let event = events.popFirst() else {
            isDeciding = false
            return nil
        }
        return scheduler.handle(event, now: now)
    }

    /// Sets whether new work is held back.
    ///
    /// - Returns: whether that is new to the scheduler.
    mutating func suspend(_ isSuspended: Bool) -> Bool {
        defer { self.isSuspended = isSuspended }
        return isSuspended != self.isSuspended
    }

    // MARK: - Members

    /// A node can be given work. It is asked what it has of this coordinator's, unless it is the coordinator's own, which started
    /// together with it and has nothing. One on which the coordinator was taken over has what it was given before.
    mutating func join(
        _ node: NodeID, name: String, arithmetic: Arithmetic?, isDraining: Bool, now: Duration
    ) -> Consequence {
        var consequence = Consequence(calls: node == own && !incarnation.isTakenOver ? [] : calls.join(node))
        if nodes.joined(node, name: name, arithmetic: arithmetic, now: now) {
            // A node that does not say how it measures is not trusted to measure alike.
            consequence.events.append(
                .nodeJoined(node, name: name, measuresAlike: arithmetic == JobKinds.arithmetic))
        }
        consequence.events.append(.nodeDraining(node, isDraining))
        return consequence
    }

    /// A node is gone.
    mutating func lose(_ node: NodeID, now: Duration) -> Consequence {
        calls.lose(node)
        return Consequence(events: nodes.lost(node, now: now) ? [.nodeLost(node)] : [])
    }

    /// A node has sent an answer that makes no sense. Nothing from it is used from now on, and its tasks are tried elsewhere.
    ///
    /// - Returns: `nil` where the node is distrusted or gone already.
    mutating func distrust(_ node: NodeID, now: Duration) -> Consequence? {
        calls.lose(node)
        return nodes.distrust(node, now: now) ? Consequence(events: [.nodeLost(node)]) : nil
    }

    /// A node refuses this coordinator, or does not refuse it any more (`nil`).
    ///
    /// - Returns: whether that is new.
    mutating func refuse(_ node: NodeID, _ reason: String?) -> Bool { nodes.refuses(node, reason) }

    /// Whether a node is a member, as far as is known here.
    func isPresent(_ node: NodeID) -> Bool { nodes.present.contains(node) }

    /// The nodes that left while nobody listened, found when the feed of members begins, or begins again.
    func unheard(_ members: Set<NodeID>) -> Set<NodeID> {
        nodes.present.union(nodes.distrusted).subtracting(members).subtracting([own])
    }

    /// The name of a node for people.
    func name(of node: NodeID) -> String { nodes.name(of: node) ?? node.description }

    /// A reason with the names of nodes. The scheduler knows nodes by their ids, and people know them by their names.
    func withNames(_ reason: FailureReason) -> String { reason.text { nodes.name(of: $0) } }

    /// The number of running attempts of a job, by the names of their nodes.
    func runningByName(_ job: JobID) -> [String: Int] {
        var running: [String: Int] = [:]
        for (node, count) in scheduler.runningByNode(job) { running[name(of: node)] = count }
        return running
    }

    // MARK: - Attempts

    /// The request to a node to run an attempt.
    ///
    /// - Parameter basis: what the task is based on.
    func request(
        _ attempt: AttemptID, _ task: ScanTask, basis: UInt64, timeLimit: Duration, on node: NodeID
    ) -> RunRequest {
        var task = task
        if scheduler.hasFailed(before: attempt) { task.rehearsal.failsFirstAttempt = false }
        var request = RunRequest(attempt: attempt, task: task, timeLimit: timeLimit)
        request.receipt = receipts.receipt(for: attempt, basis: basis, on: node)
        return request
    }

    /// Whether an attempt was sent to that node in this incarnation or an earlier one, and answers what its task asks now.
    ///
    /// - Parameter question: what the task asks; `nil` where there is no such task.
    func isProven(
        _ attempt: AttemptID, on node: NodeID, _ receipt: UInt64?, _ question: AttemptReceipts.Question?
    ) -> Bool {
        guard let receipt, let question, attempt.generation <= incarnation.generation else { return false }
        if let since = question.since, attempt.generation < since { return false }
        return receipts.receipt(for: attempt, basis: question.basis, on: node) == receipt
    }

    /// Whether a node's report on an attempt counts. An attempt that is known to run there needs no proof.
    func isBelievable(
        _ attempt: AttemptID, on node: NodeID, _ receipt: UInt64?, _ question: AttemptReceipts.Question?
    ) -> Bool {
        scheduler.isRunning(attempt, on: node) || isProven(attempt, on: node, receipt, question)
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
            delivery.unconfirmedBytes += result.byteCount
            return true
        }
    }

    /// All that followed from the node's results so far depends on this entry.
    mutating func markResults(of node: NodeID, dependingOn entry: UInt64, stored: UInt64) {
        nodes.deliver(node) { delivery in
            delivery.depends(on: entry)
            delivery.stored(stored)
        }
    }

    /// Everything up to this entry is stored. Nodes may forget the results that depend on it.
    mutating func store(upTo entry: UInt64) -> [NodeCalls.Call] {
        var due: [NodeID] = []
        nodes.stored(entry) { due.append($0) }
        return due.flatMap { calls.acknowledge($0) }
    }

    // MARK: - Calls

    /// Announces for how many people the coordinator works, where that has changed.
    mutating func announcePeople() -> [NodeCalls.Call] {
        let people = max(1, scheduler.jobs.people.count)
        guard people != calls.people else { return [] }
        calls.people = people
        return nodes.present.sorted().flatMap { calls.announcePeople(to: $0, lending: scheduler.slots(of: $0)) }
    }

    mutating func reserve(_ slots: Int, on node: NodeID) -> [NodeCalls.Call] { calls.reserve(slots, on: node) }

    mutating func assign(_ request: RunRequest, to node: NodeID) -> [NodeCalls.Call] { calls.assign(request, to: node) }

    mutating func stop(_ attempt: AttemptID, on node: NodeID) -> [NodeCalls.Call] { calls.stop(attempt, on: node) }

    /// A node has answered a demand.
    mutating func reserved(_ lease: Lease, on node: NodeID) -> Consequence {
        consequence(of: lease, on: node, isNew: calls.reserved(lease, on: node))
    }

    /// A node has reported its lease together with something else.
    mutating func leased(_ lease: Lease, on node: NodeID) -> Consequence {
        consequence(of: lease, on: node, isNew: calls.leased(lease, on: node))
    }

    private mutating func consequence(of lease: Lease, on node: NodeID, isNew: Bool) -> Consequence {
        Consequence(
            calls: calls.announcePeople(to: node, lending: lease.slots),
            events: isNew
                ? [
                    .leased(
                        node, slots: lease.slots, fencingToken: lease.fencingToken,
                        hasNoSlots: lease.hasNoSlots == true)
                ] : [])
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

    /// The demand to send to a node now. `nil` means that the node knows it already, which ends the sending.
    mutating func nextReservation(for node: NodeID) -> ReserveRequest? { calls.nextReservation(for: node) }

    /// The assignment to send to a node now. `nil` means that there is none, which ends the sending.
    mutating func nextAssignment(for node: NodeID) -> Assignment? {
        calls.nextAssignment(for: node, acknowledged: nodes.deliveries[node]?.acknowledged ?? 0)
    }

    /// The next collection to ask a node for. `nil` means that nothing more is expected from it, which ends the collecting.
    mutating func nextCollection(from node: NodeID) -> CollectRequest? {
        calls.nextCollection(
            from: node, isPresent: isPresent(node), running: scheduler.running(on: node),
            nodes.deliveries[node] ?? Delivery())
    }
}
