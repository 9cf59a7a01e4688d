import NIOCore
import Testing

@testable import Transport

/// Methods that are run as their tables' closures; most other tests have some of these and some of the runtime's.
@Suite(.timeLimit(.minutes(5))) struct DirectMethodTests {
    @Test(arguments: [
        ("misplaced", RemoteError.Kind.noSuchMethod, "no such method"),
        ("unwritable", .failed, "no ink"),
        ("repeated", .badArguments, "an argument is missing"),
    ])
    func `a call that cannot run or be answered is an error, and leaves nothing behind`(
        method: String, kind: RemoteError.Kind, words: String
    ) async throws {
        let hello = RawPeer.hello()
        try await TestCluster.run([TestCluster.settings("server")]) { systems in
            let echo = ClusterSystem.withActorName("echo") { Echo(actorSystem: systems[0]) }
            try await RawPeer.run(to: systems[0], hello: hello) { peer, inbound, outbound in
                _ = try await peer.next([.hello], &inbound)
                let body = try CallBody.make(CallTarget(actor: "echo", method: method))
                try await outbound.write(RawPeer.bytes(Frame(.call, call: 1, body: body)))
                let answer = try #require(try await peer.next([.reply, .failure], &inbound))
                let failure = CallFailure(reading: answer.body)
                #expect(answer.kind == .failure && failure.kind == kind)
                #expect(failure.message.contains(words), "\(failure.message)")

                let next = try CallBody.make(CallTarget(actor: "echo", method: "echo"), arguments: ["on"])
                try await outbound.write(RawPeer.bytes(Frame(.call, call: 2, body: next)))
                #expect(try await peer.next([.reply, .failure], &inbound)?.kind == .reply)
                let link = try #require(systems[0].link(to: hello.node))
                while link.inbound.count > 0, !Task.isCancelled { await Task.yield() }
            }
            withExtendedLifetime(echo) {}
        }
    }
}
