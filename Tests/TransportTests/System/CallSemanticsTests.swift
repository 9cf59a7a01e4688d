import Distributed
import NIOCore
import Testing

@testable import Transport

/// What a caller may rely on.
@Suite(.timeLimit(.minutes(5))) struct CallSemanticsTests {
    @Test func `calls of one node to one actor start in the order in which they were made`() async throws {
        try await TestCluster.pair { server, client in
            let (local, remote) = try Ledger.pair(server, client)
            let sizes = [0, 10, 1000, 40_000, 3, 200_000]
            // An immediate task runs up to the point where its call has been handed over before the next is made.
            let calls = (0..<600).map { number in
                let ballast = ByteBuffer(repeating: 0, count: sizes[number % sizes.count])
                return Task.immediate { try await remote.note(number, ballast) }
            }
            for call in calls { try await call.value }
            #expect(try await remote.numbers() == Array(0..<600))
            withExtendedLifetime(local) {}
        }
    }

    @Test func `a declared error arrives as itself`() async throws {
        try await TestCluster.pair { server, client in
            let (local, remote) = try Ledger.pair(server, client)
            await #expect(throws: Overexposed(seconds: 30)) { try await remote.expose(30) }
            withExtendedLifetime(local) {}
        }
    }

    @Test func `trace, caller and remaining time reach the method`() async throws {
        try await TestCluster.pair { server, client in
            let (local, remote) = try Ledger.pair(server, client)
            let facts = try await CallTrace.withValue(77) {
                try await withDeadline(.seconds(40)) { try await remote.context() }
            }
            #expect(facts.trace == 77)
            #expect(facts.peer == client.node)
            let left = try #require(facts.left)
            #expect(left > .seconds(10) && left <= .milliseconds(40_001))
            let plain = try await remote.context()
            #expect(plain.trace == 0)
            let standard = try #require(plain.left)
            #expect(standard <= .milliseconds(60_001) && standard > .seconds(20), "as TestCluster sets it")
            withExtendedLifetime(local) {}
        }
    }

    @Test func `an inner deadline does not extend an outer one, and the node's longest bounds both`() async throws {
        var settings = TestCluster.settings("client")
        settings.longestDeadline = .seconds(50)
        try await TestCluster.run([TestCluster.settings("server"), settings]) { systems in
            try await systems[1].join(try #require(systems[0].listeningAddress))
            let (local, remote) = try Ledger.pair(systems[0], systems[1])
            let inner = try await withDeadline(.seconds(30)) {
                try await withDeadline(.seconds(3600)) { try await remote.context() }
            }
            #expect(try #require(inner.left) <= .milliseconds(30_001))
            let long = try await withDeadline(.seconds(3600)) { try await remote.context() }
            #expect(try #require(long.left) <= .milliseconds(50_001))
            withExtendedLifetime(local) {}
        }
    }

    @Test func `calls beyond what the peer runs at once wait on this side and are not refused`() async throws {
        var server = TestCluster.settings("server")
        server.limits.calls = 8
        try await TestCluster.run([server, TestCluster.settings("client")]) { systems in
            try await systems[1].join(try #require(systems[0].listeningAddress))
            let (local, remote) = try Ledger.pair(systems[0], systems[1])
            let calls = (0..<100).map { _ in Task.immediate { try await remote.hold() } }
            // The eighth is running when it has been seen; more never come.
            while await local.whenLocal({ $0.holding().now }) != 8 { await Task.yield() }
            await local.whenLocal { $0.open() }
            for call in calls { try await call.value }
            #expect(await local.whenLocal { $0.holding().most } == 8)
        }
    }

    @Test func `a call whose caller gives up while it waits its turn is never made`() async throws {
        var server = TestCluster.settings("server")
        server.limits.calls = 1
        try await TestCluster.run([server, TestCluster.settings("client")]) { systems in
            try await systems[1].join(try #require(systems[0].listeningAddress))
            let (local, remote) = try Ledger.pair(systems[0], systems[1])
            let first = Task.immediate { try await remote.hold() }
            let second = Task.immediate { try await remote.note(1, ByteBuffer()) }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            await #expect(throws: TransportError.deadlineExceeded) {
                try await withDeadline(.milliseconds(50)) { try await remote.note(2, ByteBuffer()) }
            }
            await local.whenLocal { $0.open() }
            try await first.value
            #expect(try await remote.numbers() == [])
        }
    }

    @Test func `calls under way finish while the system shuts down, up to a limit`() async throws {
        try await TestCluster.run([TestCluster.settings("client")]) { clients in
            let server = ClusterSystem(TestCluster.settings("server"))
            try await server.start()
            try await clients[0].join(try #require(server.listeningAddress))
            let (local, remote) = try Ledger.pair(server, clients[0])
            let call = Task.immediate { try await remote.hold() }
            while await local.whenLocal({ $0.holding().now }) == 0 { await Task.yield() }
            async let shutdown: Void = server.shutdown(within: .seconds(60))
            // The goodbye is known here before the call ends.
            while clients[0].link(to: server.node)?.isLeaving == false { await Task.yield() }
            await #expect(throws: TransportError.notConnected(server.node)) { _ = try await remote.numbers() }
            await local.whenLocal { $0.open() }
            try await call.value
            await shutdown
        }
    }

    @Test func `a shutdown does not wait for ever`() async throws {
        try await TestCluster.run([TestCluster.settings("client")]) { clients in
            let server = ClusterSystem(TestCluster.settings("server"))
            try await server.start()
            try await clients[0].join(try #require(server.listeningAddress))
            let (local, remote) = try Ledger.pair(server, clients[0])
            let call = Task.immediate { try await remote.hold() }
            while await local.whenLocal({ $0.holding().now }) == 0 { await Task.yield() }
            await server.shutdown(within: .milliseconds(50))
            await #expect(throws: TransportError.connectionLost(mayHaveRun: true)) { try await call.value }
            await local.whenLocal { $0.open() }
        }
    }
}
