import Base
import DequeModule
package import Distributed
import NIOCore
package import Transport

/// The part of a node that does its work: it lends slots to coordinators, runs their attempts in them, and keeps the
/// results until the coordinators have stored them.
///
/// The book's `commit()` and `run(_:)` can get out of balance. Here, `WorkBook` keeps an attempt in its slot from its start to
/// its end, however it ends.
package distributed actor ScanActor: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// What peers may call. A test calls every method, so a name here that is not the compiler's is noticed.
    package static let methods = MethodTable(
        [
            Method("status") { (actor: isolated ScanActor) in actor.status() },
            Method("reserve") { (actor: isolated ScanActor, argument: ReserveRequest) in try actor.reserve(argument) },
            Method("assign") { (actor: isolated ScanActor, argument: Assignment) in try actor.assign(argument) },
            Method("collect") { (actor: isolated ScanActor, argument: CollectRequest) in
                try await actor.collect(argument)
            },
            Method("drain") { (actor: isolated ScanActor, argument: Bool) in actor.drain(argument) },
        ], errors: [DeclaredError("WorkBook.Rejection", WorkBook.Rejection.self)])

    /// The name under which every node's scan actor is found.
    package static let wellKnownName = "scan"

    private var book: WorkBook
    private let runner: TaskRunner
    private let start = ContinuousClock.now
    /// Attempts that have ended here.
    private(set) var attemptCounts = AttemptCounts()
    /// Attempts under way, so that they can be stopped.
    private var attempts: [AttemptID: Task<Void, Never>] = [:]
    /// Coordinators waiting for something to collect.
    private var collectors: [CoordinatorID: Latch] = [:]
    /// When the next lease expires, as far as `expireLeases` knows; and the latch that wakes it when a lease expires sooner.
    private var expiry: (due: Duration?, sooner: Latch)?
    /// Latches for those who wait until nothing runs any more, and until all results are fetched, too.
    private var ending: (idle: Latch, fetched: Latch)?
    /// Is called when a person has drained or resumed the node.
    private let drained: @Sendable (Bool) -> Void

    package init(
        slots: Int, runner: TaskRunner, leaseDuration: Duration = ScanActor.leaseDuration, actorSystem: ClusterSystem,
        drained: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        self.drained = drained
        self.actorSystem = actorSystem
        self.runner = runner
        book = WorkBook(slots: slots, leaseDuration: leaseDuration)
    }

    /// How long a lease lasts unless it is renewed: long enough for a coordinator to be started again.
    package static let leaseDuration = Duration.seconds(10)
    /// How long a collection waits for something new. Asking again renews the lease.
    static let patience = Duration.seconds(3)
    /// The most bytes of results in one answer.
    static let collectionLimit = 4 << 20

    private var now: Duration { start.duration(to: .now) }

    /// The node that makes the call: the peer of the link, or this one.
    private var caller: NodeID { CallOrigin.peer ?? actorSystem.node }

    // MARK: - Called by coordinators

    /// The state of the node.
    package distributed func status() -> NodeStatus {
        NodeStatus(
            node: actorSystem.node, name: actorSystem.name, version: SkyNetVersion.current, slots: book.slots,
            running: book.running, completed: attemptCounts.completed, failed: attemptCounts.failed, uptime: now,
            load: LoadAverage.lastMinute)
    }

    /// Sets how many slots a coordinator could use, and returns the lease that it has now. Missing slots follow when they
    /// become free; `collect` reports them.
    ///
    /// - Throws: `WorkBook.Rejection` if the coordinator is rejected.
    package distributed func reserve(_ request: ReserveRequest) throws -> Lease {
        try listening {
            let (lease, update) = try book.reserve(
                request.wanted, people: request.people ?? 1, by: request.incarnation, request.proof, from: caller,
                now: now)
            carryOut(update)
            return lease
        }
    }

    /// Takes attempts and stops others. The results show how they end.
    ///
    /// - Throws: `WorkBook.Rejection`, like `reserve`.
    package distributed func assign(_ assignment: Assignment) throws {
        try listening {
            let update = try book.assign(assignment, from: caller, now: now)
            carryOut(update)
            let started = Set(update.start.map(\.attempt))
            for request in assignment.attempts where !started.contains(request.attempt) { runner.lookAhead(request) }
        }
    }

    /// Returns results and the lease. Waits a few seconds if both have nothing new.
    ///
    /// - Throws: `WorkBook.Rejection`, like `reserve`.
    package distributed func collect(_ request: CollectRequest) async throws -> CollectReply {
        let caller = caller
        let found = try collected(request, by: caller)
        // Where there is no lease and the coordinator knows of none, there is nothing new either.
        if request.isFirst || !found.results.isEmpty || (found.lease?.fencingToken ?? 0) != request.fencingToken {
            return found
        }
        // A second collection of the same coordinator takes the place of the first.
        let coordinator = request.incarnation.coordinator
        collectors.removeValue(forKey: coordinator)?.open()
        let latch = Latch()
        collectors[coordinator] = latch
        await latch.wait(atMost: ScanActor.patience)
        if collectors[coordinator] === latch { collectors[coordinator] = nil }
        return try collected(request, by: caller)
    }

    /// Takes no new work from now on (`true`), or takes it again (`false`). Attempts that run go on.
    package distributed func drain(_ isDraining: Bool) {
        carryOut(book.setDraining(isDraining, now: now))
        actorSystem.drain(isDraining)
        drained(isDraining)
    }

    private func collected(_ request: CollectRequest, by caller: NodeID) throws -> CollectReply {
        try listening {
            let (collection, update) = try book.collect(
                request, from: caller, limit: ScanActor.collectionLimit, now: now)
            carryOut(update)
            return collection
        }
    }

    private func listening<Result>(_ body: () throws -> Result) throws -> Result {
        let result = try body()
        if let expiry, let next = book.nextExpiry, expiry.due.map({ next < $0 }) != false { expiry.sooner.open() }
        return result
    }

    // MARK: - Called by this node

    /// Takes note that the link to a node is gone.
    package func linkLost(_ node: NodeID) { carryOut(book.linkLost(node, now: now)) }

    /// Takes note that a node has said goodbye.
    package func left(_ node: NodeID) { carryOut(book.left(node, now: now)) }

    /// Ends the leases that nobody renewed, until it is cancelled. Sleeps while there are no leases.
    package func expireLeases() async {
        while !Task.isCancelled {
            carryOut(book.expire(now: now))
            let next = book.nextExpiry
            let sooner = Latch()
            expiry = (next, sooner)
            if let next {
                await sooner.wait(atMost: max(.seconds(1), next - now))
            } else {
                await sooner.wait()
            }
        }
    }

    /// Changes how many attempts may run at once. Attempts that run go on.
    package func setSlots(_ slots: Int) { carryOut(book.setSlots(slots, now: now)) }

    /// Takes no new work any more. One latch opens when nothing runs, the other when all results are fetched, too.
    func finish() -> (idle: Latch, fetched: Latch) {
        let latches = ending ?? (Latch(), Latch())
        ending = latches
        carryOut(book.setDraining(true, now: now))
        return latches
    }

    /// The number of attempts that run here.
    var running: Int { book.running }

    /// Stops everything.
    package func stop() { for task in attempts.values { task.cancel() } }

    // MARK: - Running attempts

    private func carryOut(_ update: WorkBook.Update) {
        var wake = update.wake
        for attempt in update.stop { attempts[attempt]?.cancel() }
        var start = Deque(update.start)
        while let request = start.popFirst() {
            guard let end = runner.atOnce(request) else {
                run(request)
                continue
            }
            let next = complete(request.attempt, end, .zero)
            wake.formUnion(next.wake)
            start += next.start
        }
        for coordinator in wake { collectors.removeValue(forKey: coordinator)?.open() }
        guard let ending, book.running == 0 else { return }
        ending.idle.open()
        if !book.hasResults { ending.fetched.open() }
    }

    private func run(_ request: RunRequest) {
        let began = now
        attempts[request.attempt] = Task { [runner] in
            let (end, stages) = await CallTrace.withValue(request.attempt.job.rawValue) { await runner.run(request) }
            attempts[request.attempt] = nil
            carryOut(complete(request.attempt, end, now - began, stages))
        }
    }

    private func complete(
        _ attempt: AttemptID, _ end: AttemptEnd<ByteBuffer>, _ duration: Duration, _ stages: StageTimes? = nil
    ) -> WorkBook.Update {
        attemptCounts.count(end)
        return book.recordEnd(of: attempt, end, duration, stages: stages, now: now)
    }
}
