import Distributed
import FoundationEssentials
import NIOCore
import NIOPosix
import Testing

@testable import Transport

/// Whole systems over TLS.
@Suite(.timeLimit(.minutes(5))) struct SecureClusterTests {
    private func settings(_ name: String, _ key: ClusterKey) -> ClusterSettings {
        var settings = TestCluster.settings(name)
        settings.security = .clusterKey(key)
        return settings
    }

    @Test func `nodes with one key call each other`() async throws {
        let key = try ClusterKey.make(now: .now)
        try await TestCluster.run([settings("a", key), settings("b", key)]) { systems in
            try await systems[1].join(try #require(systems[0].listeningAddress))
            let (local, remote) = try Ledger.pair(systems[0], systems[1])
            try await remote.note(7, ByteBuffer(repeating: 1, count: 3 << 20))
            #expect(try await remote.numbers() == [7])
            #expect(try await remote.fill(5_000_000).readableBytes == 5_000_000)
            withExtendedLifetime(local) {}
        }
    }

    @Test func `during a key change nodes with the old and the new key link`() async throws {
        let (old, new) = (try ClusterKey.make(now: .now), try ClusterKey.make(now: .now))
        func settings(_ name: String, _ key: ClusterKey, accepting others: [ClusterKey]) -> ClusterSettings {
            var settings = self.settings(name, key)
            settings.security = .clusterKey(key, accepting: others)
            return settings
        }
        let all = [
            settings("a", old, accepting: [new]), settings("b", new, accepting: [old]),
            settings("c", new, accepting: []),
        ]
        try await TestCluster.run(all) { systems in
            let address = try #require(systems[0].listeningAddress)
            try await systems[1].join(address)
            let (local, remote) = try Ledger.pair(systems[0], systems[1])
            try await remote.note(7, ByteBuffer(repeating: 1, count: 1000))
            #expect(try await remote.numbers() == [7])
            withExtendedLifetime(local) {}
            // It no longer accepts the old key.
            await #expect(throws: HandshakeFailure.self) { try await systems[2].join(address) }
        }
    }

    @Test func `another key and no key are refused with a message for the operator`() async throws {
        let key = try ClusterKey.make(now: .now)
        let other = try ClusterKey.make(now: .now)
        try await TestCluster.run([settings("a", key), settings("b", other), TestCluster.settings("c")]) { systems in
            let address = try #require(systems[0].listeningAddress)
            await #expect(throws: HandshakeFailure.self) { try await systems[1].join(address) }
            await #expect(throws: HandshakeFailure.self) { try await systems[2].join(address) }
            #expect(systems[0].peers.isEmpty)
        }
    }

    @Test func `a member cannot pass for another node`() async throws {
        let key = try ClusterKey.make(now: .now)
        try await TestCluster.run([settings("a", key)]) { systems in
            // Holds the key, but says another node id in its hello than in its certificate.
            let contexts = try #require(
                try TLSContexts(.clusterKey(key), node: NodeID(rawValue: 1), now: .now))
            guard case .hostPort(let host, let port) = systems[0].listeningAddress else { return }
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try contexts.install(in: channel.pipeline.syncOperations, isClient: true)
                        return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(RawPeer.bytes(try Handshake.frame(RawPeer.hello())))
                var decoder = FrameDecoder()
                var refusal: Frame?
                for try await bytes in inbound {
                    decoder.append(bytes)
                    refusal = try decoder.next()
                    if refusal != nil { break }
                }
                let body = try #require(refusal?.body)
                #expect(try WireCoder.decode(Refusal.self, from: body).reason == .identity)
            }
        }
    }

    @Test func `a system with an unusable key does not start`() async throws {
        var settings = TestCluster.settings("a")
        settings.security = .certificates(
            CertificateFiles(certificate: "/nowhere", privateKey: "/nowhere", trustRoots: "/nowhere"))
        let system = ClusterSystem(settings)
        await #expect(throws: SecurityError.self) { try await system.start() }
        await system.shutdown()
    }

    @Test func `what goes over the wire cannot be read`() async throws {
        let key = try ClusterKey.make(now: .now)
        try await TestCluster.run([settings("a", key), settings("b", key)]) { systems in
            let relay = try await Relay(to: try #require(systems[0].listeningAddress))
            try await systems[1].join(relay.address)
            let echo = ClusterSystem.withActorName("echo") { Echo(actorSystem: systems[0]) }
            let remote = try Echo.resolve(id: ActorAddress(node: systems[0].node, name: "echo"), using: systems[1])
            let secret = "nobody reads NGC 6205 on this wire"
            #expect(try await remote.echo(secret) == secret)
            let seen = relay.seen
            #expect(seen.count > 2000, "the relay saw the handshake and the call")
            for text in [secret, "SKYN", "echo"] {
                #expect(!contains(seen, Array(text.utf8)))
            }
            withExtendedLifetime(echo) {}
            try await relay.close()
        }
    }

    private func contains(_ bytes: [UInt8], _ pattern: [UInt8]) -> Bool {
        guard bytes.count >= pattern.count else { return false }
        return (0...(bytes.count - pattern.count)).contains { bytes[$0..<($0 + pattern.count)].elementsEqual(pattern) }
    }
}
