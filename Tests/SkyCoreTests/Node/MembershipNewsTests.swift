import Testing
import Transport

@testable import SkyCore

@Suite struct MembershipNewsTests {
    private func member(_ name: String, _ id: UInt64) -> Member {
        Member(node: NodeID(rawValue: id), name: name, address: nil, since: .zero)
    }

    @Test func `a lost node is told, and its return under another id too`() {
        var news = MembershipNews()
        #expect(news.line(.joined(member("north", 1))) == .joined("north"))
        #expect(news.line(.lost(NodeID(rawValue: 1))) == .lost("north"))
        #expect(news.line(.joined(member("north", 2))) == .returned("north"))
        #expect(news.line(.joined(member("south", 3))) == .joined("south"))
        #expect(news.line(.lost(NodeID(rawValue: 2))) == .lost("north"))
        #expect(news.line(.back(member("north", 2))) == .returned("north"))
    }

    @Test func `a node that is only silent for a while is no news`() {
        var news = MembershipNews()
        #expect(news.line(.joined(member("north", 1))) == .joined("north"))
        #expect(news.line(.joined(member("north", 1))) == nil)
        #expect(news.line(.suspect(NodeID(rawValue: 1))) == nil)
        #expect(news.line(.back(member("north", 1))) == nil)
    }

    @Test func `who has left in order is new when it comes again`() {
        var news = MembershipNews()
        _ = news.line(.joined(member("north", 1)))
        #expect(news.line(.left(NodeID(rawValue: 1))) == .left("north"))
        #expect(news.line(.joined(member("north", 2))) == .joined("north"))
    }

    @Test func `where events begin anew only what is new is told`() {
        var news = MembershipNews()
        for number in [UInt64(1), 2, 3] { _ = news.line(.joined(member("node\(number)", number))) }
        #expect(news.line(.lost(NodeID(rawValue: 1))) == .lost("node1"))
        news.begins(with: [member("node1", 4), member("node2", 2)])
        #expect(news.line(.joined(member("node1", 4))) == .returned("node1"))
        #expect(news.line(.joined(member("node2", 2))) == nil)
        #expect(news.line(.joined(member("node3", 3))) == .joined("node3"), "it had gone meanwhile")
    }

    @Test func `lost nodes without end are not all remembered`() {
        var news = MembershipNews()
        for number in 1...5000 { _ = news.line(.lost(NodeID(rawValue: UInt64(number)))) }
        #expect(news.lost.count == MembershipNews.limit)
    }
}
