import DequeModule
package import NIOCore
package import Transport

/// What a node has been given to do, and by whom: attempts that wait for a slot, attempts that run, and results that are
/// not acknowledged yet. It is a value: it says what to start and what to stop, and `ScanActor` does it.
///
/// - `LeaseBook` decides about slots. An attempt that finds no idle slot in its coordinator's lease waits here.
///   Coordinators send a few more attempts than they have slots, so that no slot stands idle for a round trip.
/// - Every attempt that was assigned has exactly one result; a refusal is a result, too. Every result is kept until it is
///   acknowledged, through a broken link and through a restart of the coordinator (`CoordinatorIncarnation`).
/// - When the link to a coordinator is lost, attempts that wait are dropped, and attempts that run go on until the lease
///   ends. A coordinator that is restarted finds the results.
/// - A coordinator that calls with an older generation than the node has seen is refused.
package struct WorkBook {
    /// Why a coordinator is rejected.
    package enum Rejection: String, Error, Hashable, Codable, Sendable, CustomStringConvertible {
        /// A later incarnation of the same coordinator has called this node.
        case superseded
        /// Another node calls as the same incarnation of the same coordinator: it has a copy of that coordinator's journal.
        case duplicate
        /// This node already knows as many coordinators as it has memory for.
        case tooMany
        /// The caller does not prove that it is the coordinator, which others have proved to be.
        case unproven

        package var description: String {
            switch self {
            case .superseded: "a later incarnation of this coordinator has called"
            case .duplicate: "another node speaks for this coordinator; was its journal copied?"
            case .tooMany: "this node knows as many coordinators as it can"
            case .unproven: "the caller does not prove that it speaks for this coordinator"
            }
        }
    }

    /// What has to be done after a change.
    package struct Update: Sendable {
        package var start: [RunRequest] = []
        package var stop: [AttemptID] = []
        /// The coordinators that have something to collect.
        package var wake: Set<CoordinatorID> = []
    }

    /// How long the data about a silent coordinator is kept: longer than a machine takes to start again.
    package static let retention = Duration.seconds(600)
    /// When a coordinator has this many bytes of unacknowledged results, nothing new is started for it. Attempts that run
    /// then may each exceed the limit by one result.
    static let resultLimit = 64 << 20
    /// How many coordinators may be known at one time.
    static let coordinatorLimit = 4096
    /// How many attempts of one coordinator may wait here, in number and in bytes. Some of them carry the background of a
    /// large image.
    static let waitingLimit = 65_536
    static let waitingBytes = 64 << 20
    /// How many attempts one message may stop: several times as many as a coordinator can have here.
    static let stopLimit = 4 * 65_536

    private struct Client {
        var generation: UInt64
        /// The node from which the coordinator calls; `nil` while there is no link.
        var peer: NodeID?
        /// The proof that was checked; `nil` where the coordinator has given none.
        var proof: IdentityProof?
        var waiting: Deque<RunRequest> = []
        /// About how many bytes the waiting attempts take in memory.
        var waitingBytes = 0
        var results: Deque<AttemptResult> = []
        var resultBytes = 0
        var lastSequence: UInt64 = 0
        /// When the coordinator last called.
        var heardAt: Duration

        mutating func add(
            _ attempt: AttemptID, _ end: AttemptEnd<ByteBuffer>, _ duration: Duration, _ stages: StageTimes?,
            _ receipt: UInt64?
        ) {
            lastSequence += 1
            let result = AttemptResult(
                sequence: lastSequence, attempt: attempt, outcome: AttemptOutcome(end), duration: duration,
                receipt: receipt, stages: stages)
            results.append(result)
            resultBytes += result.byteCount
        }

        func results(after received: UInt64, limit: Int) -> [AttemptResult] {
            guard let first = results.first, let last = results.last, received < last.sequence else { return [] }
            var found: [AttemptResult] = []
            var bytes = 0
            // The sequence numbers have no gaps.
            for result in results[(received < first.sequence ? 0 : Int(received - first.sequence) + 1)...] {
                found.append(result)
                bytes += result.byteCount
                if bytes >= limit { break }
            }
            return found
        }

        mutating func acknowledge(_ sequence: UInt64) {
            while let first = results.first, first.sequence <= sequence {
                results.removeFirst()
                resultBytes -= first.byteCount
            }
        }
    }

    private var leases: LeaseBook
    private var clients: [CoordinatorID: Client] = [:]
    /// The highest sequence number of the results of coordinators that were forgotten. A coordinator that comes back after
    /// a quiet time remembers the last number that it received, and must not take new results for those it has.
    private var forgottenSequence: UInt64 = 0
    /// Attempts under way, and the coordinators that own them.
    private var owners: [AttemptID: CoordinatorID] = [:]
    /// Attempts that wait or run, with their receipts, so that an attempt that arrives twice is run once.
    private var assigned: [AttemptID: UInt64] = [:]
    /// Attempts under way that were told to stop, with the reason. Their outcomes do not matter any more.
    private var stopped: [AttemptID: String] = [:]
    /// Attempts under way of one that had passed for a coordinator. Nobody gets their results.
    private var disowned: Set<AttemptID> = []

    package init(slots: Int, leaseDuration: Duration) {
        leases = LeaseBook(slots: slots, duration: leaseDuration)
    }

    package var slots: Int { leases.slots }
    package var running: Int { leases.running }
    package var free: Int { leases.free }
    package var isDraining: Bool { leases.isDraining }
    /// Attempts that wait for a slot.
    package var waiting: Int { clients.values.reduce(0) { $0 + $1.waiting.count } }
    /// Whether there are results that are not acknowledged.
    package var hasResults: Bool { clients.values.contains { !$0.results.isEmpty } }
    /// The size of these results in bytes.
    package var resultBytes: Int { clients.values.reduce(0) { $0 + $1.resultBytes } }

    /// When `expire` is due.
    package var nextExpiry: Duration? {
        let forgetting = clients.values.lazy.map { $0.heardAt + WorkBook.retention }.min()
        return [forgetting, leases.nextExpiry].compactMap(\.self).min()
    }

    // MARK: - What coordinators ask

    /// Works like `LeaseBook.reserve`.
    package mutating func reserve(
        _ wanted: Int, people: Int = 1, by incarnation: CoordinatorIncarnation, _ proof: IdentityProof? = nil,
        from peer: NodeID,
        now: Duration
    ) throws(Rejection) -> (lease: Lease, update: Update) {
        var update = try greet(incarnation, proof, from: peer, now: now)
        let (lease, changed) = leases.reserve(wanted, people: people, for: incarnation.coordinator, now: now)
        update.merge(settle(changed, now: now))
        return (lease, update)
    }

    /// Takes attempts. Attempts that cannot run here are refused; the refusals are among the results.
    package mutating func assign(
        _ assignment: Assignment, from peer: NodeID, now: Duration
    ) throws(Rejection) -> Update {
        var update = try greet(assignment.incarnation, assignment.proof, from: peer, now: now)
        let owner = assignment.incarnation.coordinator
        clients[owner]?.acknowledge(assignment.acknowledged)
        for attempt in assignment.stop { stop(attempt, of: owner, "stopped", &update) }
        for request in assignment.attempts {
            guard assigned[request.attempt] == nil else { continue }
            assigned[request.attempt] = request.receipt ?? 0
            if let refusal = obstacle(owner, now: now) {
                finish(request.attempt, of: owner, WorkBook.refused(refusal.description), .zero, &update)
            } else {
                clients[owner]?.waiting.append(request)
                clients[owner]?.waitingBytes += request.task.byteCount
            }
        }
        startWaiting(of: owner, now: now, &update)
        return update
    }

    /// Drops results that have been stored, and returns the next ones with the current lease. Renews the lease.
    ///
    /// - Parameter limit: how many bytes of results are returned; the last result may go beyond that.
    package mutating func collect(
        _ request: CollectRequest, from peer: NodeID, limit: Int, now: Duration
    ) throws(Rejection) -> (collection: CollectReply, update: Update) {
        var update = try greet(request.incarnation, request.proof, from: peer, now: now)
        let owner = request.incarnation.coordinator
        clients[owner]?.acknowledge(request.acknowledged)
        startWaiting(of: owner, now: now, &update)
        let attempts = request.isFirst ? attempts(of: owner) : nil
        let collection = CollectReply(
            results: clients[owner]?.results(after: request.received, limit: limit) ?? [],
            lease: leases.renew(for: owner, now: now), attempts: attempts,
            receipts: attempts?.map { assigned[$0] ?? 0 })
        return (collection, update)
    }

    /// The attempts that run or wait here for a coordinator.
    private func attempts(of coordinator: CoordinatorID) -> [AttemptID] {
        let running = owners.filter { $0.value == coordinator && stopped[$0.key] == nil }.map(\.key)
        return (running + (clients[coordinator]?.waiting.map(\.attempt) ?? [])).sorted()
    }

    package func lease(of coordinator: CoordinatorID) -> Lease? { leases.lease(of: coordinator) }

    // MARK: - What happens

    /// Takes note that an attempt that was started has ended, well or not.
    ///
    /// - Parameter stages: how long it spent in each stage of its work; `nil` if that is not known.
    package mutating func recordEnd(
        of attempt: AttemptID, _ end: AttemptEnd<ByteBuffer>, _ duration: Duration, stages: StageTimes? = nil,
        now: Duration
    ) -> Update {
        guard let owner = owners.removeValue(forKey: attempt) else { return Update() }
        var update = Update()
        let changed = leases.finish(attempt, now: now)
        guard disowned.remove(attempt) == nil else {
            (stopped[attempt], assigned[attempt]) = (nil, nil)
            return settle(changed, now: now)
        }
        var end = end
        // The task is not at fault, so the failure is not charged to it; but if the attempt completed all the same, its
        // result counts.
        if let reason = stopped.removeValue(forKey: attempt), case .failure = end { end = WorkBook.refused(reason) }
        finish(attempt, of: owner, end, duration, stages: stages, &update)
        update.merge(settle(changed, now: now))
        startWaiting(of: owner, now: now, &update)
        return update
    }

    /// Takes note that the link to a node is gone. The node's coordinator may come back until its lease ends, by another
    /// link or in another incarnation.
    package mutating func linkLost(_ peer: NodeID, now: Duration) -> Update {
        var update = Update()
        for (owner, client) in clients where client.peer == peer {
            clients[owner]?.peer = nil
            // The coordinator gives these attempts to other nodes, which may begin at once.
            dropWaiting(of: owner, .noLease, &update)
        }
        return update
    }

    /// Takes note that a node has said goodbye. Its coordinator ends with it, so nobody waits for anything.
    package mutating func left(_ peer: NodeID, now: Duration) -> Update {
        var update = Update()
        let owners = clients.filter { $0.value.peer == peer }.keys
        // All of them are forgotten first, because the slots of one must not start attempts that wait for another.
        for owner in owners {
            for request in clients[owner]?.waiting ?? [] { assigned[request.attempt] = nil }
            forget(owner)
        }
        for owner in owners {
            let (stop, changed) = leases.coordinatorLost(owner, now: now)
            for attempt in stop { stopped[attempt] = "the coordinator has left" }
            update.stop += stop
            update.merge(settle(changed, now: now))
        }
        return update
    }

    /// Ends leases that are not renewed, and forgets results that are not fetched.
    package mutating func expire(now: Duration) -> Update {
        let (stop, changed) = leases.expire(now: now)
        var update = Update(stop: stop)
        for attempt in stop { stopped[attempt] = "the lease ran out" }
        for (owner, client) in clients {
            if leases.lease(of: owner) == nil { dropWaiting(of: owner, .noLease, &update) }
            if client.heardAt + WorkBook.retention <= now { forget(owner) }
        }
        update.merge(settle(changed, now: now))
        return update
    }

    package mutating func setDraining(_ draining: Bool, now: Duration) -> Update {
        let changed = leases.setDraining(draining, now: now)
        var update = Update()
        if draining { for owner in clients.keys { dropWaiting(of: owner, .draining, &update) } }
        update.merge(settle(changed, now: now))
        return update
    }

    package mutating func setSlots(_ slots: Int, now: Duration) -> Update {
        let changed = leases.setSlots(slots, now: now)
        var update = Update()
        if leases.slots == 0 { for owner in clients.keys { dropWaiting(of: owner, .noSlots, &update) } }
        update.merge(settle(changed, now: now))
        return update
    }
}

extension WorkBook {
    /// - Returns: what has to be done because somebody else had passed for the coordinator before.
    private mutating func greet(
        _ incarnation: CoordinatorIncarnation, _ proof: IdentityProof?, from peer: NodeID, now: Duration
    ) throws(Rejection) -> Update {
        let coordinator = incarnation.coordinator
        var update = Update()
        if let proof, clients[coordinator]?.proof != proof || clients[coordinator]?.peer != peer {
            // Only here, because a signature takes as long to check as a hundred calls.
            guard proof.proves(coordinator, from: peer, "\(incarnation.generation)") else { throw .unproven }
            if let known = clients[coordinator], known.proof == nil, known.peer != peer {
                update = drop(coordinator, now: now)
            }
        }
        guard let known = clients[coordinator] else {
            guard clients.count < WorkBook.coordinatorLimit else { throw .tooMany }
            clients[coordinator] = Client(
                generation: incarnation.generation, peer: peer, proof: proof, lastSequence: forgottenSequence,
                heardAt: now)
            return update
        }
        if known.proof != nil, proof == nil { throw .unproven }
        guard incarnation.generation >= known.generation else { throw .superseded }
        // Each start has a new generation and a new node. When the link to the first node is gone, the other node may be a
        // later start whose record the disk has lost.
        if incarnation.generation == known.generation, let speaker = known.peer, speaker != peer { throw .duplicate }
        clients[coordinator]?.generation = incarnation.generation
        clients[coordinator]?.peer = peer
        clients[coordinator]?.proof = proof
        clients[coordinator]?.heardAt = now
        return update
    }

    /// Forgets a coordinator with all that runs and waits for it.
    private mutating func drop(_ owner: CoordinatorID, now: Duration) -> Update {
        for request in clients[owner]?.waiting ?? [] { assigned[request.attempt] = nil }
        forget(owner)
        let (stop, changed) = leases.coordinatorLost(owner, now: now)
        disowned.formUnion(stop)
        var update = Update(stop: stop)
        update.merge(settle(changed, now: now))
        return update
    }

    private mutating func forget(_ owner: CoordinatorID) {
        forgottenSequence = max(forgottenSequence, clients.removeValue(forKey: owner)?.lastSequence ?? 0)
    }

    private func obstacle(_ owner: CoordinatorID, now: Duration) -> StartRefusal? {
        if leases.isDraining { return .draining }
        if leases.lease(of: owner) == nil { return .noLease }
        guard let client = clients[owner] else { return nil }
        return client.waiting.count < WorkBook.waitingLimit && client.waitingBytes < WorkBook.waitingBytes
            ? nil : .noIdleSlot
    }

    private mutating func stop(_ attempt: AttemptID, of owner: CoordinatorID, _ reason: String, _ update: inout Update)
    {
        if owners[attempt] == owner {
            stopped[attempt] = reason
            update.stop.append(attempt)
        } else if let index = clients[owner]?.waiting.firstIndex(where: { $0.attempt == attempt }) {
            let bytes = clients[owner]?.waiting.remove(at: index).task.byteCount ?? 0
            clients[owner]?.waitingBytes -= bytes
            finish(attempt, of: owner, WorkBook.refused(reason), .zero, &update)
        }
    }

    private mutating func dropWaiting(of owner: CoordinatorID, _ reason: StartRefusal, _ update: inout Update) {
        let waiting = clients[owner]?.waiting ?? []
        clients[owner]?.waiting = []
        clients[owner]?.waitingBytes = 0
        for request in waiting {
            finish(request.attempt, of: owner, WorkBook.refused(reason.description), .zero, &update)
        }
    }

    private mutating func startWaiting(of owner: CoordinatorID, now: Duration, _ update: inout Update) {
        guard (clients[owner]?.resultBytes ?? Int.max) < WorkBook.resultLimit else { return }
        while let request = clients[owner]?.waiting.first {
            switch leases.start(request.attempt, for: owner, now: now) {
            case nil:
                removeFirstWaiting(of: owner)
                owners[request.attempt] = owner
                update.start.append(request)
            case .noIdleSlot: return
            case .noLease: return dropWaiting(of: owner, .noLease, &update)
            case .draining: return dropWaiting(of: owner, .draining, &update)
            case .noSlots: return dropWaiting(of: owner, .noSlots, &update)
            case .duplicate: removeFirstWaiting(of: owner)
            }
        }
    }

    private mutating func removeFirstWaiting(of owner: CoordinatorID) {
        let bytes = clients[owner]?.waiting.removeFirst().task.byteCount ?? 0
        clients[owner]?.waitingBytes -= bytes
    }

    /// Acts on leases that have changed: a coordinator that has more slots may start more attempts.
    private mutating func settle(_ changed: [Lease], now: Duration) -> Update {
        var update = Update()
        for lease in changed {
            update.wake.insert(lease.coordinator)
            startWaiting(of: lease.coordinator, now: now, &update)
        }
        return update
    }

    private static func refused(_ reason: String) -> AttemptEnd<ByteBuffer> {
        .failure(.refused(FailureReason(reason)))
    }

    /// An attempt's one result. Nobody hears of it whose coordinator has been forgotten.
    private mutating func finish(
        _ attempt: AttemptID, of owner: CoordinatorID, _ end: AttemptEnd<ByteBuffer>, _ duration: Duration,
        stages: StageTimes? = nil, _ update: inout Update
    ) {
        let receipt = assigned.removeValue(forKey: attempt)
        guard clients[owner]?.add(attempt, end, duration, stages, receipt) != nil else { return }
        update.wake.insert(owner)
    }
}

extension WorkBook.Update {
    fileprivate mutating func merge(_ other: WorkBook.Update) {
        start += other.start
        stop += other.stop
        wake.formUnion(other.wake)
    }
}
