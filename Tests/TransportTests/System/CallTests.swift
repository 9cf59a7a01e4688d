import Distributed
import NIOCore
import NIOPosix
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct CallTests {
    private func echo(_ server: ClusterSystem) -> Echo {
        ClusterSystem.withActorName("echo") { Echo(actorSystem: server) }
    }

    private func proxy(of server: ClusterSystem, from client: ClusterSystem) throws -> Echo {
        try Echo.resolve(id: ActorAddress(node: server.node, name: "echo"), using: client)
    }

    @Test func `every method of an actor answers under its wire name`() async throws {
        try await TestCluster.pair { server, client in
            let local = echo(server)
            let remote = try proxy(of: server, from: client)
            #expect(try await remote.echo("hällo") == "hällo")
            try await remote.nothing()
            #expect(try await remote.cancellations() == 0)
            #expect(try await remote.reverse([1, 2, 3]) == [3, 2, 1])
            withExtendedLifetime(local) {}
        }
    }

    @Test func `an error of the method arrives with its words`() async throws {
        try await TestCluster.pair { server, client in
            let local = echo(server)
            let remote = try proxy(of: server, from: client)
            await #expect(throws: RemoteError(.failed, "the lens cap is on")) { try await remote.fail() }
            withExtendedLifetime(local) {}
        }
    }

    @Test func `a call ends at its deadline, and the other side hears of it`() async throws {
        try await TestCluster.pair { server, client in
            let local = echo(server)
            let remote = try proxy(of: server, from: client)
            let start = ContinuousClock.now
            await #expect(throws: TransportError.deadlineExceeded) {
                try await withDeadline(.milliseconds(100)) { try await remote.wait() }
            }
            #expect(start.duration(to: .now) < .seconds(10))
            await local.whenLocal { await $0.untilCancelled() }
        }
    }

    @Test func `cancelling the caller cancels the remote task`() async throws {
        try await TestCluster.pair { server, client in
            let local = echo(server)
            let remote = try proxy(of: server, from: client)
            let call = Task { try await remote.wait() }
            #expect(try await remote.echo("the call before has left") != "")
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            await local.whenLocal { await $0.untilCancelled() }
        }
    }

    @Test func `a lost link fails its calls at once`() async throws {
        try await TestCluster.pair { server, client in
            let local = echo(server)
            let remote = try proxy(of: server, from: client)
            let calls = (0..<10).map { _ in Task { try await remote.wait() } }
            #expect(try await remote.echo("the calls before have left") != "")
            let start = ContinuousClock.now
            client.link(to: server.node)?.close()
            for call in calls {
                await #expect(throws: TransportError.connectionLost(mayHaveRun: true)) { try await call.value }
            }
            #expect(start.duration(to: .now) < .seconds(10), "not at their deadline")
            // The link may still be known for a moment when its calls have failed.
            #expect(await eventually { client.link(to: server.node) == nil })
            await #expect(throws: TransportError.notConnected(server.node)) { _ = try await remote.echo("x") }
            withExtendedLifetime(local) {}
        }
    }

    @Test func `megabytes go through in pieces, both ways`() async throws {
        try await TestCluster.pair { server, client in
            let local = echo(server)
            let remote = try proxy(of: server, from: client)
            let bytes = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            #expect(try await remote.reverse(bytes) == bytes.reversed())
            withExtendedLifetime(local) {}
        }
    }

    @Test func `a call to a missing actor is a clear error`() async throws {
        try await TestCluster.pair { server, client in
            let remote = try Echo.resolve(id: ActorAddress(node: server.node, name: "nobody"), using: client)
            await #expect {
                _ = try await remote.echo("x")
            } throws: {
                ($0 as? RemoteError)?.kind == .noSuchActor
            }
        }
    }

    @Test func `an actor that is withdrawn answers only what it is let answer, until it is offered again`() async throws
    {
        try await TestCluster.pair { server, client in
            let local = echo(server)
            let remote = try proxy(of: server, from: client)
            server.withdraw(local, except: ["echo"])
            #expect(try await remote.echo("x") == "x")
            await #expect {
                _ = try await remote.reverse([1, 2])
            } throws: {
                ($0 as? RemoteError)?.kind == .noSuchActor
            }
            server.offer(local)
            #expect(try await remote.reverse([1, 2]) == [2, 1])
            withExtendedLifetime(local) {}
        }
    }

    @Test func `actors answer again after a peer has come back`() async throws {
        try await TestCluster.run([TestCluster.settings("server")]) { systems in
            let server = systems[0]
            let local = echo(server)
            let address = try #require(server.listeningAddress)
            for _ in 0..<3 {
                try await TestCluster.run([TestCluster.settings("client")]) { clients in
                    try await clients[0].join(address)
                    #expect(try await proxy(of: server, from: clients[0]).echo("again") == "again")
                }
            }
            withExtendedLifetime(local) {}
        }
    }
}
