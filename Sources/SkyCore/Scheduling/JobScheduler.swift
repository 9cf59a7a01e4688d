import Base
package import Transport

/// Decides which task of which job runs on which node, and what becomes of it when something fails.
///
/// Each coordinator has one scheduler, which holds all its jobs. The scheduler has no clock and no socket: `handle` is
/// given what happened, and when, and returns what to do. `now` is the time since an arbitrary start. The time per event
/// does not depend on how many tasks wait. It depends on how many nodes have room; in a busy cluster that is one.
///
/// - Tasks wait here, never on nodes: one is sent only when a slot leased for us is free (`SchedulerDispatch`).
/// - People share the slots, and so do the jobs of each. Nobody's jobs hold more than their limit (`ScheduledPeople`).
/// - Jobs take turns. The retries of a job go before its fresh tasks.
/// - A task has two budgets: one for its own faults, one for nodes that died while they ran it (`SchedulerResults`,
///   `TaskRecord`).
/// - A retry prefers a node where the task has not failed, and spares the local node (`RetryPlacement`).
/// - The demand on each node follows the number of tasks that wait (`SchedulerDemand`).
package struct JobScheduler {
    let policy: SchedulerPolicy
    let generation: UInt64
    var generator: SplitMix64
    var jobs: ScheduledJobs
    var roster: Roster
    var timers = TimerQueue()
    var demands = Demands()
    var isolation = Isolation()
    /// While this is `true`, no attempt is sent.
    var isSuspended = false
    /// When to look for attempts that take long.
    var nextSpeculation: Duration?
    var speculationAllowed: Duration = .zero
    /// How many attempts take long and found no slot for a speculative attempt.
    var speculationsWanted = 0
    /// When to search again because a search stopped at its limit.
    var nextSearch: Duration?
    /// The latest time that an event came with. Time never goes back.
    var now: Duration = .zero
    /// What to do, gathered while an event is handled.
    var outbox: [Action] = []

    /// - Parameters:
    ///   - localNode: the node this coordinator lives in. It gets work like others once `nodeJoined` announces it.
    ///   - generation: the generation of this incarnation of the coordinator; its attempts carry it.
    ///   - seed: for the jitter of back-offs; the same seed and events give the same actions.
    package init(localNode: NodeID, generation: UInt64 = 1, policy: SchedulerPolicy = SchedulerPolicy(), seed: UInt64) {
        self.policy = policy
        self.generation = generation
        generator = SplitMix64(seed: seed)
        roster = Roster(local: localNode)
        jobs = ScheduledJobs(generation: generation)
    }

    /// Takes note of an event and returns what to do about it, in order.
    package mutating func handle(_ event: Event, now: Duration) -> [Action] {
        self.now = max(now, self.now)
        fireTimers()
        apply(event)
        if !isSuspended {
            dispatch()
            isolate()
            addSpeculativeAttempts()
        }
        updateDemand()
        dropStaleTimers()
        defer { outbox = [] }
        return outbox
    }

    /// When a `tick` is due; nil while there is nothing to wait for but other events.
    package var nextWake: Duration? {
        [timers.next, demands.releaseDue, nextSearch, nextSpeculation].compactMap(\.self).min()
    }

    /// How far a job is; nil once it has ended.
    package func progress(of job: JobID) -> JobProgress? {
        jobs[job]?.progress
    }

    /// Whether something of a job runs, or a node is here that takes its tasks. None of the node's slots need be leased for us.
    func hasNode(for job: JobID) -> Bool { jobs.hasNode(for: job, in: roster) }

    /// The names and ids of the nodes that are here.
    var nodeNames: Set<String> {
        Set(roster.order.flatMap { [roster[$0]?.name ?? "", $0.description] })
    }

    /// Attempts of a job under way, by node.
    package func runningByNode(_ job: JobID) -> [NodeID: Int] {
        jobs[job]?.runningAttempts().reduce(into: [:]) { $0[$1.node, default: 0] += 1 } ?? [:]
    }

    /// Whether an earlier attempt at the same task has failed in this incarnation of the coordinator.
    package func hasFailed(before attempt: AttemptID) -> Bool {
        jobs.task(attempt.task.index, of: attempt.job)?.hasFailed == true
    }

    /// Whether an attempt has its node for itself.
    package func isAlone(_ attempt: AttemptID) -> Bool { isolation.attempt == attempt }

    /// How fast each node works, as far as that was measured: 1 is average, 2 takes half as long.
    package func speeds(now: Duration) -> [NodeID: Double] {
        roster.speeds(now: now, halfLife: policy.slownessHalfLife)
    }

    /// Whether a node's results may stand beside those of this one, as far as we know.
    func measuresAlike(_ node: NodeID) -> Bool { roster[node]?.measuresAlike ?? true }

    /// The number of slots that are leased on a node, as far as we know.
    func slots(of node: NodeID) -> Int { roster[node]?.slots ?? 0 }

    /// Whether an attempt was sent to a node and has not been heard of since.
    func isRunning(_ attempt: AttemptID, on node: NodeID) -> Bool { roster.sent(attempt, to: node) != nil }

    /// Attempts that occupy a slot of a node, as far as we know.
    package func running(on node: NodeID) -> Int {
        roster[node]?.running.count ?? 0
    }

    private mutating func apply(_ event: Event) {
        switch event {
        case .submitted(let job, let tasks, let options, let submitter):
            if jobs.insert(job, options, by: submitter, roster: roster) { jobs.update(job) { $0.add(tasks) } }
        case .restored(
            let job, let tasks, let completed, let failed, let risks, let isSealed, let options, let submitter):
            guard jobs.insert(job, options, by: submitter, roster: roster) else { return }
            jobs.update(job) { record in
                record.restore(tasks, completed: completed, failed: failed)
                record.isSealed = isSealed
            }
            for (task, risks) in Dictionary(grouping: risks, by: \.task).sorted(by: { $0.key < $1.key }) {
                blame(task.index, of: job, risks)
            }
            finishIfDone(job)
        case .tasksAdded(let job, let count, let answered, let affinity):
            jobs.update(job) { $0.add(count, affinity: affinity) }
            for task in answered { answer(task, of: job) }
        case .inputFound(let job, let node):
            jobs.update(job) { $0.locality.holder = node }
            updateLookahead()
        case .noMoreTasks(let job):
            jobs.update(job) { $0.isSealed = true }
            finishIfDone(job)
        case .nodeJoined(let node, let name, let measuresAlike):
            guard !roster.isLive(node) else { return }
            roster.insert(node, name: name, measuresAlike: measuresAlike)
            if let record = roster[node] { jobs.nodeJoined(record) }
            updateLookahead()
        case .nodeLost(let node):
            nodeLost(node)
        case .nodeDraining(let node, let draining):
            roster.setDraining(draining, node)
            if draining { endStranded() }
        case .leased(let node, let slots, let fencingToken, let hasNoSlots):
            leased(node, slots: slots, fencingToken: fencingToken, hasNoSlots: hasNoSlots)
        case .leaseLost(let node):
            roster.update(node) { ($0.slots, $0.wanted) = (0, 0) }
        case .succeeded(let attempt, let node, let duration):
            succeeded(attempt, on: node, took: duration)
        case .failed(let attempt, let node, let failure):
            let alone = freeSlot(of: attempt, on: node)
            failed(attempt, on: node, failure, alone: alone)
        case .adopted(let attempt, let node):
            adopted(attempt, on: node)
        case .suspended(let isSuspended):
            self.isSuspended = isSuspended
            nextSearch = nil
            nextSpeculation = nil
        case .withheld(let job, let isWithheld):
            jobs.withhold(job, isWithheld)
        case .cancelled(let job):
            cancelled(job)
        case .tick:
            break
        }
    }

    /// While there are jobs whose input the nodes have to fetch, a node may get tasks before it has slots for them.
    mutating func updateLookahead() {
        let isWanted = jobs.hasHolders
        for node in roster.order where roster[node]?.looksAhead != isWanted {
            roster.update(node) { $0.looksAhead = isWanted }
        }
    }

    /// Completes a task with an earlier result, which is as good as a new one.
    private mutating func answer(_ task: TaskID, of job: JobID) {
        guard jobs.isOpen(task.index, of: job) else { return }
        jobs.update(job) { $0.complete(task.index, on: nil) }
        let attempt = AttemptID(job: job, task: task, number: 0, generation: generation)
        outbox.append(.completed(attempt, on: roster.local))
        finishIfDone(job)
    }

    private mutating func leased(_ node: NodeID, slots: Int, fencingToken: UInt64, hasNoSlots: Bool) {
        if let known = roster[node]?.fencingToken, fencingToken < known { return }
        if roster.setSlotless(hasNoSlots, node), hasNoSlots { endStranded() }
        roster.update(node) { record in
            // A new lease settles the reason for which the node refused attempts before.
            if record.fencingToken != fencingToken { record.pausedUntil = nil }
            record.fencingToken = fencingToken
            record.slots = min(max(0, slots), LeaseBook.slotLimit)
        }
    }
}
