/// Which coordinators may use the slots of this node, and which do. Slots are shared among coordinators.
///
/// - Reserving is one step: what is free is granted at once; the rest is remembered as a demand and granted as slots become
///   free. Nobody polls: methods return the leases of *other* coordinators that changed, so that the caller can report the
///   changes to them.
/// - An attempt occupies its slot from `start` until `finish`, whatever happens to its coordinator in between. Therefore
///   the number of running attempts never exceeds the slots, even while the stopped attempts of a lost coordinator are
///   still ending.
/// - A lease ends unless it is renewed. It also ends when its coordinator leaves.
/// - Slots go where `FairShare` says, by the number of people for whom each coordinator works. Idle slots move at once, and busy slots move when their attempt finishes. Nothing is
///   killed to make room.
///
/// The book holds no clock: `now` is the time since an arbitrary start. The number of coordinators is bounded by the number
/// of authenticated peers. Every event costs at most one pass over them and over the slots that move.
package struct LeaseBook {
    /// No machine has a million cores. Larger numbers, from a peer or a flag, are mistakes, and sums of them could overflow.
    package static let slotLimit = 1 << 20
    /// For so many people a coordinator may say that it works: more than submit to one node, and few enough that one that says so
    /// leaves something to others on any node of some size.
    static let peopleLimit = 1000

    /// The number of slots of the node, used or not.
    package private(set) var slots: Int
    /// Whether the node drains, that is, only finishes what it has.
    package private(set) var isDraining = false

    private let duration: Duration
    /// The order in which odd slots are given: first in line first. A coordinator that has had its turn goes to the end.
    private var holders: [LeaseHolder] = []
    private var attempts: [AttemptID: Occupant] = [:]
    /// One counter serves all leases, so that a coordinator that was forgotten and returns never meets an old fencing token
    /// again.
    private var lastFencingToken: UInt64 = 0

    /// The owner of an attempt.
    private enum Occupant: Equatable {
        case coordinator(CoordinatorID)
        /// The attempt's coordinator is gone, and the attempt was told to stop.
        case nobody
    }

    /// - Parameters:
    ///   - slots: how many attempts the node runs at a time.
    ///   - duration: how long a lease lasts without renewal. Renew at a third of it.
    package init(slots: Int, duration: Duration) {
        self.slots = min(max(0, slots), Self.slotLimit)
        self.duration = max(.milliseconds(1), duration)
    }

    /// The number of attempts that occupy a slot. Attempts that were told to stop are included.
    package var running: Int { attempts.count }

    /// The number of slots that are neither leased nor occupied.
    package var free: Int { max(0, slots - leasedOrOccupied) }

    /// When `expire` is due; nil while no coordinator holds a lease.
    package var nextExpiry: Duration? { holders.lazy.map(\.expiry).min() }

    /// The lease of a coordinator as it stands, expired or not.
    package func lease(of coordinator: CoordinatorID) -> Lease? {
        index(of: coordinator).map { lease(of: holders[$0]) }
    }

    private func lease(of holder: LeaseHolder) -> Lease {
        Lease(
            coordinator: holder.coordinator, fencingToken: holder.fencingToken, slots: holder.granted,
            hasNoSlots: hasNoSlots)
    }

    private func nothing(for coordinator: CoordinatorID, _ fencingToken: UInt64) -> Lease {
        Lease(coordinator: coordinator, fencingToken: fencingToken, slots: 0, hasNoSlots: hasNoSlots)
    }

    private var hasNoSlots: Bool? { slots == 0 ? true : nil }
}

// MARK: - What coordinators ask

extension LeaseBook {
    /// Sets how many slots a coordinator wants in total, running attempts included. What is free is granted now, the rest
    /// when it becomes free. This also renews the coordinator's lease. A demand of 0 gives back every idle slot.
    ///
    /// - Parameter people: for how many people the coordinator works; it gets a part for each.
    package mutating func reserve(
        _ wanted: Int, people: Int = 1, for coordinator: CoordinatorID, now: Duration
    ) -> (lease: Lease, changed: [Lease]) {
        let wanted = min(max(0, wanted), Self.slotLimit)
        let people = min(max(1, people), Self.peopleLimit)
        if let index = index(of: coordinator) {
            holders[index].wanted = wanted
            holders[index].people = people
            holders[index].expiry = now + duration
        } else if wanted > 0 {
            // If the coordinator had slots before it was forgotten, it has to learn that it has none now. Therefore the
            // lease gets a new fencing token.
            let fencingToken = nextFencingToken()
            holders.append(
                LeaseHolder(
                    coordinator: coordinator, wanted: wanted, people: people, fencingToken: fencingToken,
                    expiry: now + duration))
        }
        var changed = rebalance(now: now)
        let own = changed.firstIndex { $0.coordinator == coordinator }.map { changed.remove(at: $0) }
        let lease =
            own ?? lease(of: coordinator)
            ?? nothing(for: coordinator, lastFencingToken)
        return (lease, changed)
    }

    /// Extends a lease. Returns nil if the lease has expired or was never given; the coordinator then has to reserve again.
    package mutating func renew(for coordinator: CoordinatorID, now: Duration) -> Lease? {
        guard let index = index(of: coordinator), holders[index].expiry > now else { return nil }
        holders[index].expiry = now + duration
        return lease(of: holders[index])
    }

    /// Puts an attempt into an idle slot of its coordinator's lease. Returns nil if the attempt has started.
    package mutating func start(_ attempt: AttemptID, for coordinator: CoordinatorID, now: Duration) -> StartRefusal? {
        guard attempts[attempt] == nil else { return .duplicate }
        guard !isDraining else { return .draining }
        guard slots > 0 else { return .noSlots }
        guard let index = index(of: coordinator), holders[index].expiry > now else { return .noLease }
        guard holders[index].running < holders[index].granted, running < slots else { return .noIdleSlot }
        holders[index].running += 1
        attempts[attempt] = .coordinator(coordinator)
        return nil
    }

    /// Frees the slot of an attempt that has ended, well or not. Returns all leases that changed. An attempt that is not
    /// running is ignored.
    package mutating func finish(_ attempt: AttemptID, now: Duration) -> [Lease] {
        guard let occupant = attempts.removeValue(forKey: attempt) else { return [] }
        if case .coordinator(let owner) = occupant, let index = index(of: owner) {
            holders[index].running -= 1
        }
        return rebalance(now: now)
    }
}

// MARK: - What happens to coordinators and to the node

extension LeaseBook {
    /// Ends the lease of a coordinator that is gone. The caller has to stop its running attempts, because nobody waits for
    /// their results.
    package mutating func coordinatorLost(
        _ coordinator: CoordinatorID, now: Duration
    ) -> (stop: [AttemptID], changed: [Lease]) {
        let stop = forget([coordinator])
        return (stop, rebalance(now: now))
    }

    /// Ends leases that were not renewed in time. Their coordinators are among the changed ones, with no slots, because
    /// they may still be listening.
    package mutating func expire(now: Duration) -> (stop: [AttemptID], changed: [Lease]) {
        let late = holders.filter { $0.expiry <= now }
        let stop = forget(Set(late.map(\.coordinator)))
        let ended = late.map { nothing(for: $0.coordinator, nextFencingToken()) }
        return (stop, ended + rebalance(now: now))
    }

    /// Changes how many slots the node has. If more attempts run than there are slots, they go on, and nothing starts until
    /// enough of them have ended.
    package mutating func setSlots(_ slots: Int, now: Duration) -> [Lease] {
        let had = self.slots
        self.slots = min(max(0, slots), Self.slotLimit)
        guard (had == 0) != (self.slots == 0) else { return rebalance(now: now) }
        // Who has nothing and gets nothing has to learn all the same whether the node has slots at all.
        _ = nextFencingToken()
        return rebalance(now: now, tellsAll: true)
    }

    /// Begins or ends draining. While the node drains, idle slots are taken back, nothing is granted, and running attempts
    /// go on. Demands are remembered, and are met when draining ends.
    package mutating func setDraining(_ draining: Bool, now: Duration) -> [Lease] {
        isDraining = draining
        return rebalance(now: now)
    }
}

// MARK: - Dividing

extension LeaseBook {
    private var stopping: Int { running - holders.reduce(0) { $0 + $1.running } }

    private var leasedOrOccupied: Int { stopping + holders.reduce(0) { $0 + $1.granted } }

    private func index(of coordinator: CoordinatorID) -> Int? {
        holders.firstIndex { $0.coordinator == coordinator }
    }

    private mutating func nextFencingToken() -> UInt64 {
        lastFencingToken &+= 1
        return lastFencingToken
    }

    /// Removes coordinators. Their attempts stay in their slots, without an owner, until they finish.
    private mutating func forget(_ coordinators: Set<CoordinatorID>) -> [AttemptID] {
        guard !coordinators.isEmpty else { return [] }
        holders.removeAll { coordinators.contains($0.coordinator) }
        var orphans: [AttemptID] = []
        for case (let attempt, .coordinator(let owner)) in attempts where coordinators.contains(owner) {
            orphans.append(attempt)
        }
        orphans.sort()
        for orphan in orphans { attempts[orphan] = .nobody }
        return orphans
    }

    /// Moves idle slots to where they belong and returns every lease that changed.
    private mutating func rebalance(now: Duration, tellsAll: Bool = false) -> [Lease] {
        endTurns(now: now)
        let before = holders.map(\.granted)
        let capacity = isDraining ? 0 : max(0, slots - stopping)
        let fair = FairShare(of: capacity, among: holders.map(\.wanted), for: holders.map(\.people))
        // Idle slots above the share go at once. Each of them is wanted by somebody below its share, or by nobody, because
        // shares add up to the smaller of what there is and what is wanted.
        for index in holders.indices where holders[index].granted > fair.shares[index] {
            holders[index].granted = max(holders[index].running, fair.shares[index])
        }
        grantFree(upTo: fair.shares)
        beginTurns(fair, now: now)
        var changed: [Lease] = []
        for index in holders.indices where tellsAll || holders[index].granted != before[index] {
            holders[index].fencingToken = nextFencingToken()
            changed.append(lease(of: holders[index]))
        }
        holders.removeAll { $0.wanted == 0 && $0.granted == 0 }
        return changed
    }

    /// Gives free slots, one at a time, to the coordinator that has the fewest slots among those below their share.
    private mutating func grantFree(upTo shares: [Int]) {
        for _ in 0..<free {
            let needy = holders.indices.filter { holders[$0].granted < shares[$0] }
            guard let next = needy.min(by: { (holders[$0].granted, $0) < (holders[$1].granted, $1) }) else { return }
            holders[next].granted += 1
        }
    }

    /// Odd slots change hands about once per lease duration: often enough that nobody starves, seldom enough that the
    /// messages do not matter. A turn begins when the coordinator really has the slot, so that tasks of any length take
    /// turns.
    private mutating func beginTurns(_ fair: FairShare, now: Duration) {
        for index in holders.indices {
            let holdsOddSlot = fair.favoured.contains(index) && holders[index].granted >= fair.shares[index]
            holders[index].turnEnd = holdsOddSlot ? holders[index].turnEnd ?? (now + duration) : nil
        }
    }

    private mutating func endTurns(now: Duration) {
        let isOver = { (holder: LeaseHolder) in holder.turnEnd.map { $0 <= now } ?? false }
        guard holders.contains(where: isOver) else { return }
        var ended = holders.filter(isOver)
        holders.removeAll(where: isOver)
        for index in ended.indices { ended[index].turnEnd = nil }
        holders += ended
    }
}
