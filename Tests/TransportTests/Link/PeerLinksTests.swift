import Testing

@testable import Transport

@Suite struct PeerLinksTests {
    private final class Connection {}

    private let node = NodeID(rawValue: 7)

    private func added(_ link: Connection, to links: inout PeerLinks<Connection>) -> Connection? {
        links.add(link, to: node)
    }

    private func removed(_ link: Connection, from links: inout PeerLinks<Connection>) -> Bool {
        links.remove(link, to: node)
    }

    @Test func `a new link replaces the old one, which is kept until its connection ends`() {
        var links = PeerLinks<Connection>()
        let (old, new) = (Connection(), Connection())
        #expect(added(old, to: &links) == nil)
        #expect(added(new, to: &links) === old)
        #expect(links.isCurrent(new, to: node) && !links.isCurrent(old, to: node))
        #expect(links.all.count == 2)
        #expect(!removed(old, from: &links), "there is still a link to the peer")
        #expect(links.all.count == 1)
        #expect(removed(new, from: &links))
        #expect(links.all.isEmpty && links.current.isEmpty)
    }

    @Test func `the end of a link that is not known changes nothing`() {
        var links = PeerLinks<Connection>()
        let link = Connection()
        #expect(added(link, to: &links) == nil)
        #expect(!removed(Connection(), from: &links))
        let ofAnother = links.remove(link, to: NodeID(rawValue: 8))
        #expect(!ofAnother)
        #expect(links.current[node] === link)
    }

    @Test func `a link that was replaced twice is replaced by the last`() {
        var links = PeerLinks<Connection>()
        let connections = (0..<3).map { _ in Connection() }
        for connection in connections { _ = links.add(connection, to: node) }
        #expect(links.current[node] === connections[2])
        #expect(removed(connections[2], from: &links), "those that give way are no links to make calls on")
        #expect(links.all.count == 2)
    }
}
