import Distributed
import NIOCore
import NIOPosix
import Testing

@testable import Transport

/// Slow and greedy peers: they are slowed down themselves, and nobody else is.
@Suite(.timeLimit(.minutes(5))) struct BackPressureTests {
    private func fill(_ count: Int, call: UInt64) throws -> ByteBuffer {
        var encoder = CallEncoder()
        try encoder.recordArgument(RemoteCallArgument(label: nil, name: "_", value: count))
        let target = CallTarget(actor: "ledger", method: "fill")
        let body = try encoder.takeFrame(to: target, index: 0, remaining: .seconds(60), trace: 0).body
        return RawPeer.bytes(Frame(.call, call: call, body: body))
    }

    @Test func `a peer that asks for a gigabyte and reads nothing takes only limited memory`() async throws {
        try await TestCluster.pair { server, client in
            let (local, remote) = try Ledger.pair(server, client)
            let hello = RawPeer.hello()
            try await RawPeer.run(to: server, hello: hello) { peer, inbound, outbound in
                _ = try await peer.next([.hello], &inbound)
                for call in 1...1000 { try await outbound.write(try fill(1 << 20, call: UInt64(call))) }
                // Another client is answered all the while.
                let link = try #require(server.link(to: hello.node))
                var most = 0
                while await local.whenLocal({ $0.fills }) != 1000 {
                    #expect(try await remote.numbers() == [])
                    most = max(most, link.queuedBytes)
                }
                most = max(most, link.queuedBytes)
                #expect(most > 0, "the answers wait")
                #expect(most <= FrameLimits.cutWaiting + 4 << 20, "and only so many of them")
            }
            // The calls that waited for room have ended: the actor is free.
            #expect(try await remote.numbers() == [])
            withExtendedLifetime(local) {}
        }
    }

    @Test func `callers of a peer that reads nothing wait, with their arguments not encoded`() async throws {
        try await TestCluster.run([TestCluster.settings("server"), TestCluster.settings("other")]) { systems in
            let server = systems[0]
            let hello = RawPeer.hello()
            try await RawPeer.run(to: server, hello: hello) { peer, inbound, _ in
                _ = try await peer.next([.hello], &inbound)
                while server.link(to: hello.node) == nil { await Task.yield() }
                let link = try #require(server.link(to: hello.node))
                let mute = try Ledger.resolve(id: ActorAddress(node: hello.node, name: "ledger"), using: server)
                let ballast = ByteBuffer.ofAnything(1 << 20)
                let calls = (0..<500).map { number in Task.immediate { try await mute.note(number, ballast) } }
                #expect(link.queuedBytes <= FrameLimits.cutWaiting + 2 << 20, "500 MiB are not in the outbox")

                // Another link is not held up.
                try await systems[1].join(try #require(server.listeningAddress))
                let (local, remote) = try Ledger.pair(server, systems[1])
                #expect(try await remote.numbers() == [])
                for call in calls { call.cancel() }
                for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
                #expect(link.queuedBytes == 0, "nothing of them is left")
                withExtendedLifetime(local) {}
            }
        }
    }

    @Test func `a peer that sends more than its window is cut off`() async throws {
        var settings = TestCluster.settings("server")
        settings.limits.window = 512 * 1024
        try await TestCluster.run([settings]) { systems in
            try await RawPeer.run(to: systems[0]) { peer, inbound, outbound in
                _ = try await peer.next([.hello], &inbound)
                // Pieces of bodies that never end are put away at once and granted again, so this is 64 MiB too much only
                // together with what is waiting; a call that cannot be granted is the honest case.
                let piece = ByteBuffer(repeating: 0, count: FrameLimits.piece)
                var writes = 0
                do {
                    for call in 1...600 {
                        try await outbound.write(
                            RawPeer.bytes(Frame(.call, flags: .more, call: UInt64(call), body: piece)))
                        writes += 1
                    }
                } catch {}
                #expect(await peer.isClosed(&inbound))
            }
            // The peer may see the end of the connection before the node has put its link away.
            #expect(await eventually { systems[0].peers.isEmpty })
        }
    }

    @Test func `a gigabyte is refused where it is passed, before memory is spent on it`() async throws {
        try await TestCluster.pair { server, client in
            let (local, remote) = try Ledger.pair(server, client)
            let gigabyte = ByteBuffer.ofAnything(1 << 30)
            await #expect(throws: TransportError.tooLarge(limit: 64 << 20)) { try await remote.note(1, gigabyte) }
            await #expect {
                _ = try await remote.fill(1 << 30)
            } throws: {
                ($0 as? RemoteError)?.kind == .tooLarge
            }
            #expect(try await remote.numbers() == [], "the link lives")
            withExtendedLifetime(local) {}
        }
    }

    @Test func `a body that grows beyond the limit on the wire is refused, and the link survives`() async throws {
        var settings = TestCluster.settings("server")
        settings.limits.body = UInt32(FrameLimits.piece)
        try await TestCluster.run([settings]) { systems in
            let echo = ClusterSystem.withActorName("echo") { Echo(actorSystem: systems[0]) }
            try await RawPeer.run(to: systems[0]) { peer, inbound, outbound in
                _ = try await peer.next([.hello], &inbound)
                let piece = ByteBuffer(repeating: 0, count: FrameLimits.piece)
                for _ in 0..<2 {
                    try await outbound.write(RawPeer.bytes(Frame(.call, flags: .more, call: 1, body: piece)))
                }
                let answer = try #require(try await peer.next([.failure], &inbound))
                #expect(CallFailure(reading: answer.body).kind == .tooLarge)
                try await outbound.write(RawPeer.bytes(Frame(.call, call: 1, body: piece)))
                let body = try CallBody.make(CallTarget(actor: "echo", method: "echo"), arguments: ["on"])
                try await outbound.write(RawPeer.bytes(Frame(.call, call: 2, body: body)))
                let next = try #require(try await peer.next([.reply, .failure], &inbound))
                #expect(next.kind == .reply && next.call == 2)
            }
            withExtendedLifetime(echo) {}
        }
    }

    @Test func `pings and short calls get through while sixty-four megabytes are under way`() async throws {
        var limits = LinkLimits()
        limits.window = 512 * 1024
        let hello = RawPeer.hello(limits: limits)
        try await TestCluster.run([TestCluster.settings("server")]) { systems in
            let local = ClusterSystem.withActorName("ledger") { Ledger(actorSystem: systems[0]) }
            try await RawPeer.run(to: systems[0], hello: hello) { peer, inbound, outbound in
                _ = try await peer.next([.hello], &inbound)
                try await outbound.write(try fill(FrameLimits.body - 100, call: 1))
                var long = try #require(try await peer.next([.reply], &inbound)).length

                // Without a grant the long reply stands still; a ping is answered all the same.
                try await outbound.write(RawPeer.bytes(Frame(.ping)))
                while let frame = try await peer.next([.reply, .pong], &inbound), frame.kind == .reply {
                    long += frame.length
                }
                let numbers = try CallBody.make(CallTarget(actor: "ledger", method: "numbers"))
                try await outbound.write(RawPeer.bytes(Frame(.call, call: 2, body: numbers)))
                let link = try #require(systems[0].link(to: hello.node))
                try await outbound.write(RawPeer.bytes(Frame(.ping)))
                while let frame = try await peer.next([.reply, .pong], &inbound), frame.kind == .reply {
                    long += frame.length
                }
                while link.inbound.count > 0 { await Task.yield() }

                // Its answer waits now; it is among the next when the received bytes are granted again.
                try await outbound.write(RawPeer.bytes(Frame(.grant, body: ByteBuffer(integer: UInt32(long)))))
                while let frame = try await peer.next([.reply], &inbound), frame.call == 1 { long += frame.length }
                #expect(long < 2 << 20, "of sixty-four megabytes")
            }
            withExtendedLifetime(local) {}
        }
    }
}
