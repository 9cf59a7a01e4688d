import NIOCore
import NIOEmbedded
import Testing

@testable import Transport

@Suite struct PendingConnectionsTests {
    @Test func `the oldest connection of the source with the most gives way`() {
        var pending = PendingConnections(limit: 3)
        let channels = (0..<5).map { _ in EmbeddedChannel() }
        #expect(pending.add(channels[0], from: "honest") == nil)
        #expect(pending.add(channels[1], from: "greedy") == nil)
        #expect(pending.add(channels[2], from: "greedy") == nil)
        #expect(pending.add(channels[3], from: "greedy") === channels[1])
        #expect(pending.add(channels[4], from: "another") === channels[2])
        #expect(pending.count == 3)
        pending.remove(channels[0])
        pending.remove(channels[0])
        #expect(pending.count == 2)
        #expect(pending.removeAll().count == 2)
        #expect(pending.count == 0)
    }
}
