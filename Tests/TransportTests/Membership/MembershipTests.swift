import Testing

@testable import Transport

@Suite struct MembershipTests {
    private func member(_ id: UInt64, _ name: String) -> Member {
        Member(node: NodeID(rawValue: id), name: name, address: nil, since: .zero)
    }

    @Test func `a member joins once, however often its link is replaced`() {
        var membership = Membership()
        #expect(membership.linked(member(1, "a")) == .joined(member(1, "a")))
        #expect(membership.linked(member(1, "a")) == nil)
        #expect(membership.list.count == 1)
    }

    @Test func `a suspect that is heard is back and never left`() {
        var membership = Membership()
        _ = membership.linked(member(1, "a"))
        #expect(membership.suspected(NodeID(rawValue: 1)) == .suspect(NodeID(rawValue: 1)))
        #expect(membership.suspected(NodeID(rawValue: 1)) == nil)
        #expect(membership.heard(NodeID(rawValue: 1)) == .back(member(1, "a")))
        #expect(membership.heard(NodeID(rawValue: 1)) == nil)
    }

    @Test func `leaving and being lost are different events`() {
        var membership = Membership()
        _ = membership.linked(member(1, "a"))
        _ = membership.linked(member(2, "a"))
        #expect(membership.unlinked(NodeID(rawValue: 1), saidGoodbye: true) == .left(NodeID(rawValue: 1)))
        #expect(membership.unlinked(NodeID(rawValue: 2), saidGoodbye: false) == .lost(NodeID(rawValue: 2)))
        #expect(membership.unlinked(NodeID(rawValue: 2), saidGoodbye: false) == nil)
        #expect(membership.list.isEmpty)
    }

    @Test func `a lost node that links again is back, and one that left joins again`() {
        var membership = Membership()
        _ = membership.linked(member(1, "a"))
        _ = membership.unlinked(NodeID(rawValue: 1), saidGoodbye: false)
        #expect(membership.linked(member(1, "a")) == .back(member(1, "a")))
        _ = membership.unlinked(NodeID(rawValue: 1), saidGoodbye: true)
        #expect(membership.linked(member(1, "a")) == .joined(member(1, "a")))
        for id in 10..<(12 + UInt64(Membership.lostLimit)) {
            _ = membership.linked(member(id, "b"))
            _ = membership.unlinked(NodeID(rawValue: id), saidGoodbye: false)
        }
        #expect(membership.linked(member(10, "b")) == .joined(member(10, "b")), "forgotten")
        #expect(membership.linked(member(900, "b")) == .back(member(900, "b")))
    }

    @Test func `draining is reported once, and a new link resets it`() {
        var membership = Membership()
        #expect(membership.draining(NodeID(rawValue: 1), true) == nil)
        _ = membership.linked(member(1, "a"))
        #expect(membership.draining(NodeID(rawValue: 1), true) == .draining(NodeID(rawValue: 1), true))
        #expect(membership.draining(NodeID(rawValue: 1), true) == nil)
        #expect(membership.list.first?.isDraining == true)
        #expect(membership.linked(member(1, "a")) == nil)
        #expect(membership.list.first?.isDraining == false)
    }

    @Test func `the list is ordered by name, and equal names by incarnation`() {
        var membership = Membership()
        for (id, name) in [(9, "b"), (2, "a"), (1, "b")] as [(UInt64, String)] {
            _ = membership.linked(member(id, name))
        }
        #expect(membership.list.map(\.node.rawValue) == [2, 1, 9])
    }
}
