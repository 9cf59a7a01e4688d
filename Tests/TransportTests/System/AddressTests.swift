import Distributed
import NIOCore
import NIOPosix
import Testing

@testable import Transport

/// The address where a node listens, the one that others dial, and its id are three different things.
@Suite(.timeLimit(.minutes(5))) struct AddressTests {
    private func joined(_ name: String) -> @Sendable (MembershipEvent) -> Bool {
        { if case .joined(let member) = $0 { member.name == name } else { false } }
    }

    private func port(of system: ClusterSystem) throws -> Int {
        guard case .hostPort(_, let port) = try #require(system.listeningAddress) else { return 0 }
        return port
    }

    @Test func `a node behind NAT is reached at what it advertises`() async throws {
        try await TestCluster.run([TestCluster.settings("seed")]) { seeds in
            let seed = try #require(seeds[0].listeningAddress)
            // The relay has to be known before the node that advertises it, so the node listens on a port of its choice.
            let hidden = TestCluster.loopbackAddress()
            let relay = try await Relay(to: hidden)
            var inner = TestCluster.settings("inner")
            inner.listen = hidden
            inner.advertise = relay.address
            inner.join = [seed]
            var outer = TestCluster.settings("outer")
            outer.join = [seed]
            try await TestCluster.run([inner, outer]) { systems in
                try await systems[1].hears(joined("inner"))
                let member = try #require(systems[1].members.first { $0.name == "inner" })
                #expect(member.address == relay.address)
                #expect(member.node == systems[0].node)
            }
            try await relay.close()
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1", "127.0.0.9"])
    func `a node that listens on all interfaces is reached by any of its names`(host: String) async throws {
        var server = TestCluster.settings("server")
        server.listen = .hostPort(host: "0.0.0.0", port: 0)
        try await TestCluster.run([server, TestCluster.settings("client")]) { systems in
            let address = NodeAddress.hostPort(host: host, port: try port(of: systems[0]))
            let hello = try await systems[1].join(address)
            #expect(hello.node == systems[0].node)
            // Others get the address where it was seen, and not the wildcard.
            let member = try #require(systems[1].members.first)
            #expect(member.address?.isWildcard == false)
        }
    }

    @Test func `a host name is advertised as it was given`() async throws {
        var server = TestCluster.settings("server")
        server.advertise = .hostPort(host: "localhost", port: 0)
        try await TestCluster.run([server, TestCluster.settings("client")]) { systems in
            try await systems[1].join(try #require(systems[0].listeningAddress))
            let port = try port(of: systems[0])
            #expect(systems[1].members.first?.address == .hostPort(host: "localhost", port: port))
        }
    }

    @Test func `a restarted node replaces its former self`() async throws {
        var watcher = TestCluster.settings("watcher")
        watcher.silenceLimit = .seconds(30)
        try await TestCluster.run([watcher]) { systems in
            let address = NodeAddress.hostPort(host: "127.0.0.1", port: 17_999)
            // The former self: a link that is up and says nothing any more, as after a power cut.
            var ghost = RawPeer.hello()
            ghost.advertised = address
            ghost.name = "ghost"
            let former = ghost.node
            try await RawPeer.run(to: systems[0], hello: ghost) { peer, inbound, _ in
                _ = try await peer.next([.hello], &inbound)
                try await systems[0].hears(joined("ghost"))
                var reborn = TestCluster.settings("reborn")
                reborn.listen = nil
                reborn.advertise = address
                try await TestCluster.run([reborn]) { others in
                    try await others[0].join(try #require(systems[0].listeningAddress))
                    // This happens after a third of the silence limit of thirty seconds.
                    try await systems[0].hears(within: .seconds(25)) { $0 == .lost(former) }
                    #expect(systems[0].members.map(\.name) == ["reborn"])
                }
            }
        }
    }
}
