/// Which addresses to dial and when, as a value. Seeds, and nodes that were once linked, are dialled for ever. An address that a
/// beacon or a member suggested is dropped when it has not been heard of for a while and nobody answers there.
package struct DialPlan {
    package enum Action: Equatable {
        case dial(NodeAddress)
        /// Call `due` after this pause.
        case wait(NodeAddress, Duration)
    }

    private enum Phase {
        case idle
        /// The address waits for its next dial. If `yields` is set, it is dialled at once when its node is heard of meanwhile.
        case waiting(until: Duration, yields: Bool)
        case dialling
        /// The address waits for a place among the dials under way.
        case queued
    }

    /// The bound that a dial counts against. Addresses that nobody has heard of for a while take their time to fail, and must not
    /// keep others waiting.
    private enum Lane {
        case fresh, retry
    }

    private struct Target {
        var isSeed: Bool
        var found: Member.Found
        /// The node that is, or was last, or is said to be at this address.
        var node: NodeID?
        var phase = Phase.idle
        var backOff = BackOff()
        var suggestedAt: Duration
        var dialledAt: Duration?
        /// Whether there has been a link by this address.
        var wasLinked = false
        /// The lane in which the address takes a place among the dials under way.
        var lane: Lane?
        /// The lane in which the address has waited for a place, when its turn has come.
        var turn: Lane?

        var isIdle: Bool { if case .idle = phase { true } else { false } }
    }

    /// How long an unreachable suggestion is kept after it was last heard, and how long a node that was linked is looked for
    /// eagerly.
    package static let suggestionLifetime = Duration.seconds(600)
    /// Head start of the smaller node id, so that two nodes that hear each other do not both dial.
    package static let courtesy = Duration.milliseconds(700)
    /// Head start of an address before the next best of the same node.
    package static let preference = Duration.seconds(2)
    /// Shortest time between two dials of a node that is heard of again and again.
    package static let hastePause = Duration.milliseconds(500)
    /// How many addresses are kept at once. A LAN has some hundred nodes at most; a flood of forged beacons has more.
    package static let targetLimit = 4096
    /// Dials under way at once of addresses that have just been heard of. A hundred nodes that are switched on together
    /// would otherwise begin so many handshakes that few are done in time.
    package static let freshLimit = 12
    /// Dials under way at once of addresses that have failed before: each takes a socket, and forged beacons name many.
    package static let retryLimit = 48

    /// Addresses of this node itself that are remembered.
    static let ownAddressLimit = 1024

    private let own: NodeID
    private var targets: [NodeAddress: Target] = [:]
    /// Addresses that turned out to be this node itself.
    private var itself: Set<NodeAddress> = []
    private var fresh = DialQueue(limit: DialPlan.freshLimit)
    private var retries = DialQueue(limit: DialPlan.retryLimit)

    private var generator: any RandomNumberGenerator & Sendable

    package init(
        own: NodeID, generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.own = own
        self.generator = generator
    }

    /// Dials now, or as soon as there is a place. A seed never waits.
    private mutating func dial(_ address: NodeAddress, _ lane: Lane, now: Duration) -> [Action] {
        guard let target = targets[address] else { return [] }
        if !target.isSeed, target.lane == nil {
            guard lane == .fresh ? fresh.take(address) : retries.take(address) else {
                targets[address]?.phase = .queued
                return []
            }
            targets[address]?.lane = lane
        }
        targets[address]?.phase = .dialling
        targets[address]?.dialledAt = now
        return [.dial(address)]
    }

    private mutating func wait(
        _ address: NodeAddress, _ pause: Duration, now: Duration, yields: Bool = false
    ) -> [Action] {
        targets[address]?.phase = .waiting(until: now + pause, yields: yields)
        return [.wait(address, pause)]
    }

    /// Gives back the place of a dial that has ended, well or not.
    private mutating func dialled(_ address: NodeAddress) {
        switch targets[address]?.lane {
        case .fresh: fresh.release()
        case .retry: retries.release()
        case nil: return
        }
        targets[address]?.lane = nil
    }

    /// Calls one address that waits in each lane, where there is a place. The address is checked again before it is dialled: its
    /// node may have been linked meanwhile, and then the next address is called.
    private mutating func next(now: Duration) -> [Action] {
        next(.fresh, now: now) + next(.retry, now: now)
    }

    private mutating func next(_ lane: Lane, now: Duration) -> [Action] {
        while let address = lane == .fresh ? fresh.next() : retries.next() {
            guard case .queued? = targets[address]?.phase else { continue }
            targets[address]?.turn = lane
            return wait(address, .zero, now: now)
        }
        return []
    }

    /// Takes an address that the operator gave.
    package mutating func seed(_ address: NodeAddress, now: Duration) -> [Action] {
        if targets[address]?.isSeed == true || itself.contains(address) { return [] }
        dialled(address)
        targets[address] = Target(isSeed: true, found: .join, node: nil, suggestedAt: now)
        return dial(address, .fresh, now: now) + next(now: now)
    }

    /// Whether an address is a seed's.
    package func isSeed(_ address: NodeAddress) -> Bool { targets[address]?.isSeed ?? false }

    /// Notes that this address is no longer a seed's, because the operator's name for it stands for another address now.
    package mutating func unseed(_ address: NodeAddress) {
        targets[address]?.isSeed = false
    }

    /// Takes addresses where `node` is said to be, the best first.
    package mutating func suggest(
        _ addresses: [NodeAddress], node: NodeID, by found: Member.Found, isLinked: Bool, now: Duration
    ) -> [Action] {
        guard node != own else { return [] }
        var actions: [Action] = []
        var behind = Duration.zero
        for address in addresses where !itself.contains(address) {
            actions += suggest(address, node: node, by: found, isLinked: isLinked, behind: behind, now: now)
            behind += DialPlan.preference
        }
        return actions
    }

    private mutating func suggest(
        _ address: NodeAddress, node: NodeID, by found: Member.Found, isLinked: Bool, behind: Duration, now: Duration
    ) -> [Action] {
        guard let target = targets[address] else {
            guard makeRoom(now: now) else { return [] }
            targets[address] = Target(isSeed: false, found: found, node: node, suggestedAt: now)
            if isLinked { return [] }
            let pause = behind + (own < node ? .zero : DialPlan.courtesy)
            return pause == .zero ? dial(address, .fresh, now: now) : wait(address, pause, now: now)
        }
        targets[address]?.suggestedAt = now
        if found == .beacon, !target.isSeed { targets[address]?.found = .beacon }
        let isAnother = target.node != node
        if isAnother {
            // This is a restarted node: earlier failures say nothing about it.
            targets[address]?.node = node
            targets[address]?.backOff.reset()
        }
        if isLinked { return [] }
        switch target.phase {
        case .dialling, .queued: return []
        case .idle:
            return behind == .zero || target.wasLinked
                ? dial(address, .fresh, now: now) : wait(address, behind, now: now)
        case .waiting(_, let yields):
            // A node that is heard can probably be reached again, by its best address or by the one that served before.
            let isDue = target.dialledAt.map { now - $0 >= DialPlan.hastePause } ?? false
            let isPromising = behind == .zero || target.wasLinked
            return isDue && isPromising && (yields || isAnother) ? dial(address, .fresh, now: now) : []
        }
    }

    /// How this node learned of a node. Where there are several ways, the operator's word comes first, then the node's beacon.
    package func found(_ node: NodeID) -> Member.Found? {
        let ways = targets.values.lazy.filter { $0.node == node }.map(\.found)
        return [.join, .beacon, .introduction].first { ways.contains($0) }
    }

    /// Nodes whose beacons have been heard.
    package var heard: Set<NodeID> {
        Set(targets.values.lazy.filter { $0.found == .beacon }.compactMap(\.node))
    }

    /// Drops addresses that are not worth keeping where there are too many. The result is `false` where all are worth keeping.
    private mutating func makeRoom(now: Duration) -> Bool {
        guard targets.count >= DialPlan.targetLimit else { return true }
        targets = targets.filter { _, target in
            target.isSeed || !target.isIdle || now - target.suggestedAt <= DialPlan.suggestionLifetime
        }
        return targets.count < DialPlan.targetLimit
    }

    /// The node that is, or was last, or is said to be at an address.
    package func node(at address: NodeAddress) -> NodeID? { targets[address]?.node }

    /// Goes on with an address whose pause is over.
    ///
    /// - Parameter isLinked: whether there is a link to `node(at:)`.
    package mutating func due(_ address: NodeAddress, now: Duration, isLinked: Bool) -> [Action] {
        // Another pause, or a dial, may have begun since.
        guard let target = targets[address], case .waiting(let until, _) = target.phase, until <= now else {
            // If it was this address's turn, it is the next one's turn now.
            return next(now: now)
        }
        targets[address]?.turn = nil
        if target.node != nil, isLinked {
            targets[address]?.phase = .idle
            return next(now: now)
        }
        return dial(address, target.turn ?? (target.backOff.isFresh ? .fresh : .retry), now: now)
    }

    /// Notes that a link came up through this address.
    package mutating func connected(_ address: NodeAddress, to node: NodeID, now: Duration) -> [Action] {
        dialled(address)
        targets[address]?.node = node
        targets[address]?.phase = .idle
        targets[address]?.wasLinked = true
        targets[address]?.backOff.reset()
        return next(now: now)
    }

    package mutating func failed(_ address: NodeAddress, _ failure: HandshakeFailure, now: Duration) -> [Action] {
        dialled(address)
        return next(now: now) + again(address, failure, now: now)
    }

    /// Forgets an address that has failed, or tries it again after a pause.
    private mutating func again(_ address: NodeAddress, _ failure: HandshakeFailure, now: Duration) -> [Action] {
        guard let target = targets[address] else { return [] }
        switch failure {
        case _ where failure.isOfItself:
            // A machine has some tens of addresses. Members may make up any number; all are then looked at again.
            if itself.count >= DialPlan.ownAddressLimit { itself = [] }
            itself.insert(address)
            targets[address] = nil
            return []
        case .refused(let refusal) where refusal.reason == .duplicate,
            .refusedByPeer(let refusal) where refusal.reason == .duplicate:
            // Now it is known which node is there, so that the next look finds the link instead of dialling again.
            if let node = refusal.node { targets[address]?.node = node }
        default:
            break
        }
        let isOld = now - target.suggestedAt > DialPlan.suggestionLifetime
        if !target.isSeed, !target.wasLinked, isOld {
            targets[address] = nil
            return []
        }
        return pause(address, longest: isOld ? BackOff.patient : BackOff.longest, now: now)
    }

    private mutating func pause(
        _ address: NodeAddress, longest: Duration, behind: Duration = .zero, now: Duration
    ) -> [Action] {
        guard let pause = targets[address]?.backOff.next(longest: longest, using: &generator) else { return [] }
        return wait(address, behind + pause, now: now, yields: true)
    }

    /// The last link to a node ended. A node that said goodbye is not looked for, except where it is a seed.
    package mutating func lost(_ node: NodeID, saidGoodbye: Bool, now: Duration) -> [Action] {
        var actions: [Action] = []
        // They are gathered first: a dictionary that is changed while it is walked is copied, and it may have thousands of
        // addresses.
        var ways: [(address: NodeAddress, target: Target)] = []
        for (address, target) in targets where target.node == node { ways.append((address, target)) }
        let served = ways.lazy.filter(\.target.wasLinked).map(\.target.suggestedAt).max()
        for (address, target) in ways where target.isIdle {
            if saidGoodbye, !target.isSeed {
                targets[address] = nil
                continue
            }
            targets[address]?.suggestedAt = now
            // The address that has served comes first, unless nobody names it any more.
            let isBehind = !target.wasLinked && served.map { $0 >= target.suggestedAt } == true
            let behind = isBehind ? DialPlan.preference : .zero
            actions += pause(address, longest: BackOff.longest, behind: behind, now: now)
        }
        return actions
    }

    /// Forgets a node that has said that it leaves, and to which there is no link.
    package mutating func left(_ node: NodeID) {
        targets = targets.filter { _, target in
            // Dials under way end by themselves.
            target.lane != nil || target.isSeed || target.node != node
        }
        fresh.keep { targets[$0] != nil }
        retries.keep { targets[$0] != nil }
    }
}
