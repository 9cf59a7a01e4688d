import Distributed
import NIOCore
import NIOPosix
import Testing

@testable import Transport

/// A dishonest peer can do no harm.
@Suite(.timeLimit(.minutes(5))) struct HostilePeerTests {
    private func call(_ method: String, on actor: String) throws -> Frame {
        Frame(.call, call: 1, body: try CallBody.make(CallTarget(actor: actor, method: method)))
    }

    @Test(arguments: [
        // Another actor's method under its wire name, under the compiler's name, and names that nobody has.
        "secret", "$s14TransportTests5VaultC6secretSSyYaKFTE", "$s14TransportTests4EchoC4echoyS2SYaKFTE", "", "\u{0}",
    ])
    func `a method that the actor does not have is refused, and the node survives`(method: String) async throws {
        try await TestCluster.run([TestCluster.settings("server")]) { systems in
            let echo = ClusterSystem.withActorName("echo") { Echo(actorSystem: systems[0]) }
            let vault = ClusterSystem.withActorName("vault") { Vault(actorSystem: systems[0]) }
            try await RawPeer.run(to: systems[0]) { peer, inbound, outbound in
                try await outbound.write(RawPeer.bytes(try call(method, on: "echo")))
                let answer = try #require(try await peer.next([.failure, .reply], &inbound))
                #expect(answer.kind == .failure)
                #expect(try WireCoder.decode(CallFailure.self, from: answer.body).kind == .noSuchMethod)

                // The same link still serves an honest call.
                try await outbound.write(RawPeer.bytes(try call("secret", on: "vault")))
                let honest = try #require(try await peer.next([.failure, .reply], &inbound))
                #expect(try WireCoder.decode(String.self, from: honest.body) == "nobody may read this")
            }
            withExtendedLifetime((echo, vault)) {}
        }
    }

    @Test func `a call without its argument is an error reply`() async throws {
        try await TestCluster.run([TestCluster.settings("server")]) { systems in
            let echo = ClusterSystem.withActorName("echo") { Echo(actorSystem: systems[0]) }
            try await RawPeer.run(to: systems[0]) { peer, inbound, outbound in
                try await outbound.write(RawPeer.bytes(try call("echo", on: "echo")))
                let answer = try #require(try await peer.next([.failure, .reply], &inbound))
                #expect(try WireCoder.decode(CallFailure.self, from: answer.body).kind == .badArguments)
            }
            withExtendedLifetime(echo) {}
        }
    }

    @Test func `frames after a refusal in the same read are ignored`() async throws {
        try await TestCluster.run([TestCluster.settings("server")]) { systems in
            let ledger = ClusterSystem.withActorName("ledger") { Ledger(actorSystem: systems[0]) }
            try await RawPeer.run(to: systems[0]) { peer, inbound, outbound in
                _ = try await peer.next([.hello], &inbound)
                var bytes = RawPeer.bytes(try Handshake.frame(Refusal(.duplicate, "no")))
                let note = try CallBody.make(CallTarget(actor: "ledger", method: "note"), arguments: [7, ByteBuffer()])
                bytes.writeImmutableBuffer(RawPeer.bytes(Frame(.call, call: 1, body: note)))
                try await outbound.write(bytes)
                let answer = try await peer.next([.reply, .failure], &inbound)
                #expect(answer == nil)
            }
            let numbers = try await ledger.numbers()
            #expect(numbers == [])
        }
    }

    @Test(arguments: ["nobody", "echo"])
    func `a peer that calls for ever and reads no refusals is cut off`(actor: String) async throws {
        var settings = TestCluster.settings("server")
        settings.limits.calls = 16
        try await TestCluster.run([settings]) { systems in
            let echo = ClusterSystem.withActorName("echo") { Echo(actorSystem: systems[0]) }
            // It grants nothing, so that after some thousand refusals all further ones wait.
            var limits = LinkLimits()
            limits.window = 512 * 1024
            try await RawPeer.run(to: systems[0], hello: RawPeer.hello(limits: limits)) { peer, inbound, outbound in
                _ = try await peer.next([.hello], &inbound)
                let body = try CallBody.make(CallTarget(actor: actor, method: "none"))
                let call = RawPeer.bytes(Frame(.call, call: 1, body: body))
                let calls = ByteBuffer(bytes: repeatElement(call.readableBytesView, count: 100).joined())
                do { for _ in 0..<200 { try await outbound.write(calls) } } catch {}
                #expect(await peer.isClosed(&inbound))
            }
            withExtendedLifetime(echo) {}
        }
    }

    @Test(arguments: [
        ByteBuffer(string: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ByteBuffer(repeating: 0xFF, count: 10_000), ByteBuffer(repeating: 0, count: 64),
        ByteBuffer(bytes: [0, 0, 0, 10, 99, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ])
    func `bytes that are not a handshake end the connection`(garbage: ByteBuffer) async throws {
        try await TestCluster.run([TestCluster.settings("server")]) { systems in
            try await RawPeer.run(to: systems[0], hello: nil) { _, inbound, outbound in
                try await outbound.write(garbage)
                // The node may send a refusal first; then it closes.
                do { while try await inbound.next() != nil {} } catch {}
            }
            #expect(systems[0].peers.isEmpty)
        }
    }

    @Test func `garbage after a good handshake ends that link and no other`() async throws {
        try await TestCluster.pair { server, client in
            let local = ClusterSystem.withActorName("echo") { Echo(actorSystem: server) }
            let remote = try Echo.resolve(id: ActorAddress(node: server.node, name: "echo"), using: client)
            try await RawPeer.run(to: server) { peer, inbound, outbound in
                _ = try await peer.next([.hello], &inbound)
                try await outbound.write(ByteBuffer(repeating: 0xEE, count: 100))
                do { while try await inbound.next() != nil {} } catch {}
            }
            #expect(try await remote.echo("still here") == "still here")
            withExtendedLifetime(local) {}
        }
    }

    @Test func `two hundred connections that say nothing disturb nobody`() async throws {
        try await TestCluster.pair { server, client in
            let local = ClusterSystem.withActorName("echo") { Echo(actorSystem: server) }
            let remote = try Echo.resolve(id: ActorAddress(node: server.node, name: "echo"), using: client)
            guard case .hostPort(let host, let port) = server.listeningAddress else { return }
            var silent: [any Channel] = []
            for _ in 0..<200 {
                silent.append(
                    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .connect(host: host, port: port).get())
            }
            #expect(try await remote.echo("hello") == "hello")
            for channel in silent { try? await channel.close().get() }
            withExtendedLifetime(local) {}
        }
    }
}
