/// Who is in the cluster, as far as this node can tell from its own links. A value: the owner reports what happens to
/// links and hands the events on.
package struct Membership {
    private var members: [NodeID: Member] = [:]

    package init() {}

    /// All members, by name and then by incarnation.
    package var list: [Member] {
        members.values.sorted { ($0.name, $0.node) < ($1.name, $1.node) }
    }

    package func contains(_ node: NodeID) -> Bool { members[node] != nil }

    /// A link came up. No event where the node is a member already: its link was only replaced.
    package mutating func linked(_ member: Member) -> MembershipEvent? {
        if members[member.node] != nil {
            members[member.node]?.address = member.address
            return members[member.node]?.state == .suspect ? revived(member.node) : nil
        }
        members[member.node] = member
        return .joined(member)
    }

    package mutating func suspected(_ node: NodeID) -> MembershipEvent? {
        guard members[node]?.state == .alive else { return nil }
        members[node]?.state = .suspect
        return .suspect(node)
    }

    package mutating func revived(_ node: NodeID) -> MembershipEvent? {
        guard members[node]?.state == .suspect else { return nil }
        members[node]?.state = .alive
        return .revived(node)
    }

    /// The node's only link ended.
    package mutating func unlinked(_ node: NodeID, saidGoodbye: Bool) -> MembershipEvent? {
        guard members.removeValue(forKey: node) != nil else { return nil }
        return saidGoodbye ? .left(node) : .lost(node)
    }
}
