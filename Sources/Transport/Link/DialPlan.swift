/// Which addresses to dial and when, as a value. Seeds are dialled for ever; an address that a beacon or a member
/// suggested is dropped when it has not been heard of for a while and nobody answers there.
package struct DialPlan {
    package enum Action: Equatable {
        case dial(NodeAddress)
        /// Call `due` again after this pause.
        case wait(NodeAddress, Duration)
    }

    private struct Target {
        var isSeed: Bool
        /// Who is, or was last, or is said to be, at this address.
        var node: NodeID?
        var backOff: BackOff
        var suggestedAt: Duration
        /// Dialled, or waiting for that.
        var isBusy = false
        /// Dialled, and nothing heard yet.
        var isDialling = false
    }

    /// How long an unreachable suggestion is kept after it was last heard.
    package static let suggestionLifetime = Duration.seconds(600)
    /// Head start of the smaller node id, so that two nodes that hear each other do not both dial.
    package static let courtesy = Duration.milliseconds(700)
    /// Suggestions kept at once; a LAN has some hundred nodes at most, a flood of forged beacons has more.
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
    private mutating func dial(_ address: NodeAddress) -> [Action] {
        guard let target = targets[address] else { return [] }
        targets[address]?.isBusy = true
        if !target.isSeed, !target.isDialling {
            guard dialling < DialPlan.dialLimit else { return [.wait(address, DialPlan.dialPause)] }
            dialling += 1
            targets[address]?.isDialling = true
        }
        return [.dial(address)]
    }

    /// The dial has ended, well or not.
    private mutating func dialled(_ address: NodeAddress) {
        guard targets[address]?.isDialling == true else { return }
        targets[address]?.isDialling = false
        dialling -= 1
    }

    /// An address that the operator gave.
    package mutating func seed(_ address: NodeAddress, now: Duration) -> [Action] {
        if targets[address]?.isSeed == true { return [] }
        dialled(address)
        targets[address] = Target(isSeed: true, node: nil, backOff: BackOff(), suggestedAt: now, isBusy: true)
        return [.dial(address)]
    }

    /// An address where `node` is said to be.
    package mutating func suggest(_ address: NodeAddress, node: NodeID, isLinked: Bool, now: Duration) -> [Action] {
        guard node != own, !itself.contains(address) else { return [] }
        if var target = targets[address] {
            target.suggestedAt = now
            if target.node != node {
                // A restarted node: whatever failed before says nothing about it.
                target.node = node
                target.backOff.reset()
            }
            targets[address] = target
            return target.isBusy || isLinked ? [] : dial(address)
        }
        guard targets.count < DialPlan.targetLimit else { return [] }
        targets[address] = Target(
            isSeed: false, node: node, backOff: BackOff(), suggestedAt: now, isBusy: !isLinked)
        if isLinked { return [] }
        return own < node ? dial(address) : [.wait(address, DialPlan.courtesy)]
    }

    /// A pause is over.
    package mutating func due(_ address: NodeAddress, isLinked: (NodeID) -> Bool) -> [Action] {
        guard let target = targets[address] else { return [] }
        if let node = target.node, isLinked(node) {
            targets[address]?.isBusy = false
            return []
        }
        return dial(address)
    }

    /// A link came up through this address.
    package mutating func connected(_ address: NodeAddress, to node: NodeID) {
        dialled(address)
        targets[address]?.node = node
        targets[address]?.isBusy = false
        targets[address]?.backOff.reset()
    }

    package mutating func failed(_ address: NodeAddress, _ failure: HandshakeFailure, now: Duration) -> [Action] {
        dialled(address)
        guard var target = targets[address] else { return [] }
        switch failure {
        case .refused(let refusal) where refusal.reason == .itself,
            .refusedByPeer(let refusal) where refusal.reason == .itself:
            itself.insert(address)
            targets[address] = nil
            return []
        case .refused(let refusal) where refusal.reason == .duplicate,
            .refusedByPeer(let refusal) where refusal.reason == .duplicate:
            // Now it is known who is there, so that the next look finds the link instead of dialling again.
            if let node = refusal.node { target.node = node }
        default:
            break
        }
        if !target.isSeed, now - target.suggestedAt > DialPlan.suggestionLifetime {
            targets[address] = nil
            return []
        }
        let pause = target.backOff.next()
        targets[address] = target
        return [.wait(address, pause)]
    }

    /// The last link to a node ended. A node that said goodbye is not looked for, except where it is a seed.
    package mutating func lost(_ node: NodeID, saidGoodbye: Bool) -> [Action] {
        var actions: [Action] = []
        for (address, target) in targets where target.node == node && !target.isBusy {
            if saidGoodbye, !target.isSeed {
                targets[address] = nil
                continue
            }
            targets[address]?.isBusy = true
            var backOff = target.backOff
            actions.append(.wait(address, backOff.next()))
            targets[address]?.backOff = backOff
        }
        return actions
    }
}
