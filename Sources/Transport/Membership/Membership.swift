import DequeModule

/// Who is in the cluster, as far as this node can tell from its own links. It is a value: the owner reports what happens to links
/// and hands the events on. Beacons do not count here: a member is a node with an authenticated link.
package struct Membership {
    /// How many lost nodes are remembered, to tell one that comes back from one that is new.
    package static let lostLimit = 1024

    private var members: [NodeID: Member] = [:]
    private var lost: Set<NodeID> = []
    /// The lost nodes, in the order in which they were lost.
    private var lostOrder: Deque<NodeID> = []
    /// The names that lost nodes had, the last one at the end, until a node of that name is here or says goodbye.
    private var missed: Deque<String> = []

    package init() {}

    /// All members, by name and then by incarnation.
    package var list: [Member] {
        members.values.sorted { ($0.name, $0.node) < ($1.name, $1.node) }
    }

    /// A link came up. There is no event where the node is a member already: its link was only replaced.
    package mutating func linked(_ member: Member) -> MembershipEvent? {
        missed.removeAll { $0 == member.name }
        guard var known = members[member.node] else {
            members[member.node] = member
            guard lost.remove(member.node) != nil else { return .joined(member) }
            lostOrder.removeAll { $0 == member.node }
            return .back(member)
        }
        let wasSuspect = known.state == .suspect
        known.address = member.address
        known.state = .alive
        known.isDraining = member.isDraining
        members[member.node] = known
        return wasSuspect ? .back(known) : nil
    }

    package mutating func suspected(_ node: NodeID) -> MembershipEvent? {
        guard members[node]?.state == .alive else { return nil }
        members[node]?.state = .suspect
        return .suspect(node)
    }

    /// A suspected node was heard.
    package mutating func heard(_ node: NodeID) -> MembershipEvent? {
        guard var member = members[node], member.state == .suspect else { return nil }
        member.state = .alive
        members[node] = member
        return .back(member)
    }

    package mutating func draining(_ node: NodeID, _ isDraining: Bool) -> MembershipEvent? {
        guard let member = members[node], member.isDraining != isDraining else { return nil }
        members[node]?.isDraining = isDraining
        return .draining(node, isDraining)
    }

    /// The node's only link ended.
    package mutating func unlinked(_ node: NodeID, saidGoodbye: Bool) -> MembershipEvent? {
        guard let member = members.removeValue(forKey: node) else { return nil }
        if saidGoodbye { return .left(node) }
        missed.removeAll { $0 == member.name }
        missed.append(member.name)
        if missed.count > Membership.lostLimit { missed.removeFirst() }
        lost.insert(node)
        lostOrder.append(node)
        if lostOrder.count > Membership.lostLimit, let oldest = lostOrder.popFirst() { lost.remove(oldest) }
        return .lost(node)
    }

    /// Whether a node that says goodbye without a link to it ends that its name is missed: it has been started again, and stopped in
    /// order before there was a link. Then it counts as one that was here for a moment (`linked`, `unlinked`).
    package func isMissed(_ member: Member) -> Bool { members[member.node] == nil && missed.contains(member.name) }
}
