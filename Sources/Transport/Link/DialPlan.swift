/// Which addresses to dial and when, as a value. Seeds and those who were linked once are dialled for ever; an address
/// that a beacon or a member suggested is dropped when it has not been heard of for a while and nobody answers there.
package struct DialPlan {
    package enum Action: Equatable {
        case dial(NodeAddress)
        /// Call `due` after this pause.
        case wait(NodeAddress, Duration)
    }

    private enum Phase {
        case idle
        /// For the next dial. Whoever is heard of meanwhile is dialled at once if `yields`.
        case waiting(until: Duration, yields: Bool)
        case dialling
    }

    private struct Target {
        var isSeed: Bool
        var found: Member.Found
        /// Who is, or was last, or is said to be, at this address.
        var node: NodeID?
        var phase = Phase.idle
        var backOff = BackOff()
        var suggestedAt: Duration
        var dialledAt: Duration?
        /// Whether there has been a link by this address.
        var wasLinked = false
        /// Counts among the dials of suggestions under way.
        var takesPlace = false

        var isIdle: Bool { if case .idle = phase { true } else { false } }
    }

    /// How long an unreachable suggestion is kept after it was last heard; and for how long somebody who was linked is
    /// looked for eagerly.
    package static let suggestionLifetime = Duration.seconds(600)
    /// Head start of the smaller node id, so that two nodes that hear each other do not both dial.
    package static let courtesy = Duration.milliseconds(700)
    /// Head start of an address before the next best of the same node.
    package static let preference = Duration.seconds(2)
    /// Shortest time between two dials of somebody who is heard of again and again.
    package static let hastePause = Duration.milliseconds(500)
    /// Addresses kept at once; a LAN has some hundred nodes at most, a flood of forged beacons has more.
    package static let targetLimit = 4096
    /// Dials of suggested addresses under way at once: each takes a socket, and forged beacons name many addresses.
    package static let dialLimit = 64
    /// Time after which one looks again whether there is room for a further dial.
    package static let dialPause = Duration.seconds(1)

    private let own: NodeID
    private var targets: [NodeAddress: Target] = [:]
    /// Addresses that turned out to be this node itself.
    private var itself: Set<NodeAddress> = []
    /// Suggested addresses that are being dialled.
    private var dialling = 0

    package init(own: NodeID) {
        self.own = own
    }

    /// Dials now, or looks again in a while where too many suggestions are being dialled. A seed never waits.
    private mutating func dial(_ address: NodeAddress, now: Duration) -> [Action] {
        guard let target = targets[address] else { return [] }
        if !target.isSeed, !target.takesPlace {
            guard dialling < DialPlan.dialLimit else { return wait(address, DialPlan.dialPause, now: now) }
            dialling += 1
            targets[address]?.takesPlace = true
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

    /// The dial has ended, well or not.
    private mutating func dialled(_ address: NodeAddress) {
        guard targets[address]?.takesPlace == true else { return }
        targets[address]?.takesPlace = false
        dialling -= 1
    }

    /// An address that the operator gave.
    package mutating func seed(_ address: NodeAddress, now: Duration) -> [Action] {
        if targets[address]?.isSeed == true { return [] }
        dialled(address)
        targets[address] = Target(isSeed: true, found: .join, node: nil, suggestedAt: now)
        return dial(address, now: now)
    }

    /// Addresses where `node` is said to be, the best first.
    package mutating func suggest(
        _ addresses: [NodeAddress], node: NodeID, by found: Member.Found, isLinked: Bool, now: Duration
    ) -> [Action] {
        guard node != own else { return [] }
        var actions: [Action] = []
        var headStart = own < node ? Duration.zero : DialPlan.courtesy
        for address in addresses where !itself.contains(address) {
            actions += suggest(address, node: node, by: found, isLinked: isLinked, headStart: headStart, now: now)
            headStart += DialPlan.preference
        }
        return actions
    }

    private mutating func suggest(
        _ address: NodeAddress, node: NodeID, by found: Member.Found, isLinked: Bool, headStart: Duration,
        now: Duration
    ) -> [Action] {
        guard let target = targets[address] else {
            guard makeRoom(now: now) else { return [] }
            targets[address] = Target(isSeed: false, found: found, node: node, suggestedAt: now)
            if isLinked { return [] }
            return headStart == .zero ? dial(address, now: now) : wait(address, headStart, now: now)
        }
        targets[address]?.suggestedAt = now
        if found == .beacon, !target.isSeed { targets[address]?.found = .beacon }
        let isAnother = target.node != node
        if isAnother {
            // A restarted node: whatever failed before says nothing about it.
            targets[address]?.node = node
            targets[address]?.backOff.reset()
        }
        if isLinked { return [] }
        switch target.phase {
        case .dialling: return []
        case .idle: return dial(address, now: now)
        case .waiting(_, let yields):
            // Who is heard can probably be reached again.
            let isDue = target.dialledAt.map { now - $0 >= DialPlan.hastePause } ?? false
            return isDue && (yields || isAnother) ? dial(address, now: now) : []
        }
    }

    /// How a node came to be known of; of several ways the operator's word first, then its beacon.
    package func found(_ node: NodeID) -> Member.Found? {
        let ways = targets.values.lazy.filter { $0.node == node }.map(\.found)
        return [.join, .beacon, .introduction].first { ways.contains($0) }
    }

    /// Drops what is not worth keeping where there is too much. `false` where all of it is.
    private mutating func makeRoom(now: Duration) -> Bool {
        guard targets.count >= DialPlan.targetLimit else { return true }
        targets = targets.filter { _, target in
            target.isSeed || !target.isIdle || now - target.suggestedAt <= DialPlan.suggestionLifetime
        }
        return targets.count < DialPlan.targetLimit
    }

    /// A pause is over.
    package mutating func due(_ address: NodeAddress, now: Duration, isLinked: (NodeID) -> Bool) -> [Action] {
        // Another pause may have been begun since, or a dial.
        guard let target = targets[address], case .waiting(let until, _) = target.phase, until <= now else { return [] }
        if let node = target.node, isLinked(node) {
            targets[address]?.phase = .idle
            return []
        }
        return dial(address, now: now)
    }

    /// A link came up through this address.
    package mutating func connected(_ address: NodeAddress, to node: NodeID) {
        dialled(address)
        targets[address]?.node = node
        targets[address]?.phase = .idle
        targets[address]?.wasLinked = true
        targets[address]?.backOff.reset()
    }

    package mutating func failed(_ address: NodeAddress, _ failure: HandshakeFailure, now: Duration) -> [Action] {
        dialled(address)
        guard let target = targets[address] else { return [] }
        switch failure {
        case .refused(let refusal) where refusal.reason == .itself,
            .refusedByPeer(let refusal) where refusal.reason == .itself:
            itself.insert(address)
            targets[address] = nil
            return []
        case .refused(let refusal) where refusal.reason == .duplicate,
            .refusedByPeer(let refusal) where refusal.reason == .duplicate:
            // Now it is known who is there, so that the next look finds the link instead of dialling again.
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

    private mutating func pause(_ address: NodeAddress, longest: Duration, now: Duration) -> [Action] {
        guard let pause = targets[address]?.backOff.next(longest: longest) else { return [] }
        return wait(address, pause, now: now, yields: true)
    }

    /// The last link to a node ended. A node that said goodbye is not looked for, except where it is a seed.
    package mutating func lost(_ node: NodeID, saidGoodbye: Bool, now: Duration) -> [Action] {
        var actions: [Action] = []
        for (address, target) in targets where target.node == node && target.isIdle {
            if saidGoodbye, !target.isSeed {
                targets[address] = nil
                continue
            }
            targets[address]?.suggestedAt = now
            actions += pause(address, longest: BackOff.longest, now: now)
        }
        return actions
    }

    /// A node to which there is no link has said that it leaves.
    package mutating func left(_ node: NodeID) {
        targets = targets.filter { _, target in
            // Dials under way end by themselves.
            if case .dialling = target.phase { return true }
            return target.isSeed || target.node != node
        }
    }
}
