package import Distributed
package import Transport

/// A node's hands: lends slots to coordinators and runs their attempts in them.
///
/// The book's `commit()` and `run(_:)` can fall out of balance; here a slot is held by an attempt from `run`'s start
/// to its end, whatever the end, and lent only by a lease that dies with the coordinator's link.
package distributed actor ScanActor: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// What peers may call. A test calls every method, so a name here that is not the compiler's is noticed.
    package static let methods = MethodTable([
        Method("status", "$s7SkyCore9ScanActorC6statusAA10NodeStatusVyYaKFTE") { (actor: isolated ScanActor) in
            actor.status()
        },
        Method("reserve", "$s7SkyCore9ScanActorC7reserveyAA5LeaseVAA14ReserveRequestVYaKFTE") {
            (actor: isolated ScanActor, argument: ReserveRequest) in actor.reserve(argument)
        },
        Method("watch", "$s7SkyCore9ScanActorC5watchyAA5LeaseVSgAA0F5WatchVYaKFTE") {
            (actor: isolated ScanActor, argument: LeaseWatch) in await actor.watch(argument)
        },
        Method("run", "$s7SkyCore9ScanActorC3runyAA8RunReplyVAA0F7RequestVYaKFTE") {
            (actor: isolated ScanActor, argument: RunRequest) in await actor.run(argument)
        },
    ])

    /// The name every node's scan actor is found under.
    package static let wellKnownName = "scan"

    private var book: LeaseBook
    private let runner: TaskRunner
    private let epoch = ContinuousClock.now
    private let slots: Int
    private var completed = 0
    private var failed = 0
    /// Attempts under way, so that they can be stopped with their coordinator's lease.
    private var attempts: [AttemptID: Task<TaskOutcome, Never>] = [:]
    /// Attempts stopped with their lease, until they have ended.
    private var halted: Set<AttemptID> = []
    /// Coordinators waiting for their lease to change.
    private var watchers: [NodeID: Latch] = [:]

    package init(slots: Int, runner: TaskRunner, actorSystem: ClusterSystem) {
        self.actorSystem = actorSystem
        self.slots = slots
        self.runner = runner
        book = LeaseBook(slots: slots, duration: ScanActor.leaseDuration)
    }

    /// How long a lease lives unless renewed. The link's end is noticed sooner; this is for a coordinator that
    /// hangs while its sockets live.
    static let leaseDuration = Duration.seconds(10)
    /// How long a watch waits before it answers that nothing changed, which also renews the lease.
    static let watchDuration = Duration.seconds(3)

    private var now: Duration { epoch.duration(to: .now) }

    /// The coordinator that calls: the peer of the link, or this node's own.
    private var caller: NodeID { CallOrigin.peer ?? actorSystem.node }

    // MARK: - Called by coordinators

    /// How the node is.
    package distributed func status() -> NodeStatus {
        NodeStatus(
            node: actorSystem.node, name: actorSystem.name, version: SkyNetVersion.current, slots: slots,
            running: book.running, completed: completed, failed: failed, uptime: now,
            load: LoadAverage.lastMinute)
    }

    /// Sets how many slots a coordinator could use, and gives what it has now. What is missing follows when it
    /// comes free; `watch` tells.
    package distributed func reserve(_ request: ReserveRequest) -> Lease {
        let (lease, _) = book.reserve(request.wanted, for: caller, now: now)
        // Giving slots back may have given them to others.
        wakeAll()
        return lease
    }

    /// Waits until the lease differs from the epoch the coordinator knows, a few seconds at most.
    package distributed func watch(_ request: LeaseWatch) async -> Lease? {
        let coordinator = caller
        guard let lease = book.renew(for: coordinator, now: now) else { return nil }
        if lease.epoch > request.epoch { return lease }
        await waitForChange(coordinator)
        return book.renew(for: coordinator, now: now)
    }

    /// Runs one attempt in a slot of the coordinator's lease. Cancelling the call stops it.
    package distributed func run(_ request: RunRequest) async -> RunReply {
        let start = now
        // A peer's numbers: durations beyond reason trap in the clock's arithmetic.
        guard request.hasSaneDurations else {
            return RunReply(outcome: .badInput("a time outside 0 to 86400 seconds"), duration: .zero)
        }
        if let refusal = book.start(request.attempt, for: caller, now: start) {
            return RunReply(outcome: .refused(String(describing: refusal)), duration: .zero)
        }
        let work = Task { [runner] in await runner.run(request) }
        attempts[request.attempt] = work
        var outcome = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        // Not the task's fault, so not charged to it.
        if halted.remove(request.attempt) != nil { outcome = .refused("the lease ran out") }
        attempts[request.attempt] = nil
        _ = book.finish(request.attempt, now: now)
        if case .done = outcome {
            completed += 1
        } else if !work.isCancelled {
            failed += 1
        }
        wakeAll()
        return RunReply(outcome: outcome, duration: now - start)
    }

    // MARK: - Called by this node

    /// A coordinator's node is gone: its lease is void and its attempts stop.
    package func coordinatorLost(_ node: NodeID) {
        let (stop, _) = book.coordinatorLost(node, now: now)
        halt(stop)
    }

    /// Voids the leases that nobody renewed.
    package func expireLeases() {
        let (stop, _) = book.expire(now: now)
        halt(stop)
    }

    private func halt(_ stopped: [AttemptID]) {
        for attempt in stopped {
            halted.insert(attempt)
            attempts[attempt]?.cancel()
        }
        wakeAll()
    }

    // MARK: - Waiting

    private func waitForChange(_ coordinator: NodeID) async {
        // A second watch of the same coordinator takes the place of the first.
        watchers.removeValue(forKey: coordinator)?.open()
        let latch = Latch()
        watchers[coordinator] = latch
        await latch.wait(atMost: ScanActor.watchDuration)
        if watchers[coordinator] === latch { watchers[coordinator] = nil }
    }

    private func wakeAll() {
        for latch in watchers.values { latch.open() }
        watchers = [:]
    }
}
