package import Transport

/// Decides which task of which job runs on which node, and what becomes of it when something fails.
///
/// Lives in each coordinator and holds all its jobs. No clock and no socket: `handle` is told what happened, and when,
/// and returns what to do. `now` is the time since an arbitrary start. The time per event does not depend on how many tasks
/// wait; it depends on how many nodes have room, which in a busy cluster is one.
///
/// - Tasks wait here, never on nodes: one is sent only when a slot leased for us is free (`SchedulerDispatch`).
/// - Jobs take turns; a job's retries go before its fresh tasks.
/// - A task has two budgets, for its own faults and for nodes that died under it (`SchedulerResults`, `TaskRecord`).
/// - A retry prefers a node where the task has not failed, and spares the local node (`RetryPlacement`).
/// - What is wished for on each node follows what waits (`SchedulerWishes`).
package struct JobScheduler {
    let policy: Policy
    var generator: SplitMix64
    var jobs = JobTable()
    var roster: Roster
    var timers = TimerQueue()
    var wishes = Wishes()
    /// When to look again because a search stopped at its limit.
    var nextSearch: Duration?
    /// The latest time we were told: time never goes back.
    var now: Duration = .zero
    /// What to do, gathered while an event is handled.
    var outbox: [Action] = []

    /// - Parameters:
    ///   - localNode: the node this coordinator lives in. It gets work like others once `nodeJoined` announces it.
    ///   - seed: for the jitter of back-offs; the same seed and events give the same actions.
    package init(localNode: NodeID, policy: Policy = Policy(), seed: UInt64) {
        self.policy = policy
        generator = SplitMix64(seed: seed)
        roster = Roster(local: localNode)
    }

    /// Takes note of an event and says what to do about it, in order.
    package mutating func handle(_ event: Event, now: Duration) -> [Action] {
        self.now = max(now, self.now)
        fireTimers()
        apply(event)
        dispatch()
        updateWishes()
        dropStaleTimers()
        defer { outbox = [] }
        return outbox
    }

    /// When a `tick` is due; nil while there is nothing to wait for but events.
    package var nextWake: Duration? {
        [timers.next, wishes.releaseDue, nextSearch].compactMap(\.self).min()
    }

    /// How far a job is; nil once it has ended.
    package func progress(of job: JobID) -> JobProgress? {
        jobs[job]?.progress
    }

    /// How fast each node works, where that was measured: 1 is average, 2 takes half as long.
    package func speeds(now: Duration) -> [NodeID: Double] {
        roster.speeds(now: now, halfLife: policy.slownessHalfLife)
    }

    /// Attempts that occupy a slot of a node, as far as we know.
    package func running(on node: NodeID) -> Int {
        roster[node]?.running.count ?? 0
    }

    private mutating func apply(_ event: Event) {
        switch event {
        case .submitted(let job, let tasks):
            jobs.insert(job, tasks: tasks)
        case .tasksAdded(let job, let count):
            jobs.update(job) { $0.add(count) }
        case .noMoreTasks(let job):
            jobs.update(job) { $0.isSealed = true }
            finishIfDone(job)
        case .nodeJoined(let node):
            roster.insert(node)
        case .nodeLost(let node):
            nodeLost(node)
        case .nodeDraining(let node, let draining):
            roster.setDraining(draining, node)
        case .leased(let node, let slots, let epoch):
            leased(node, slots: slots, epoch: epoch)
        case .leaseLost(let node):
            roster.update(node) { ($0.slots, $0.wanted) = (0, 0) }
        case .succeeded(let attempt, let node):
            succeeded(attempt, on: node)
        case .failed(let attempt, let node, let failure):
            roster.update(node) { $0.running[attempt] = nil }
            failed(attempt, on: node, failure)
        case .cancelled(let job):
            cancelled(job)
        case .tick:
            break
        }
    }

    private mutating func leased(_ node: NodeID, slots: Int, epoch: UInt64) {
        roster.update(node) { record in
            if let known = record.epoch, epoch < known { return }
            // A new lease answers whatever a refusal was about.
            if record.epoch != epoch { record.pausedUntil = nil }
            record.epoch = epoch
            record.slots = min(max(0, slots), LeaseBook.slotLimit)
        }
    }
}
