import Distributed
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import Transport

/// Nodes of neighbouring versions of the protocol.
@Suite(.timeLimit(.minutes(5))) struct ProtocolVersionTests {
    /// Two systems with a link, the second of which calls an actor of the first.
    private func meet(
        _ protocols: [ClosedRange<UInt16>], ahead: UInt64 = 0, clock: (@Sendable () -> UInt64)? = nil,
        lines: NIOLockedValueBox<[String]> = .init([]),
        _ check: (ClusterSystem, ClusterSystem) async throws -> Void
    ) async throws {
        var settings = [TestCluster.settings("older"), TestCluster.settings("newer")]
        for index in settings.indices {
            settings[index].protocols = protocols[index]
            settings[index].logger = Logger(label: settings[index].name) { LineKeeper(label: $0, lines: lines) }
        }
        settings[1].timeOfDay = clock ?? { WallClock.milliseconds + ahead }
        try await TestCluster.run(settings) { systems in
            try await systems[1].join(try #require(systems[0].listeningAddress))
            try await systems[0].hears { if case .joined = $0 { true } else { false } }
            let (local, remote) = try Ledger.pair(systems[0], systems[1])
            for number in 0..<3 { try await remote.note(number, ByteBuffer(repeating: 1, count: 300_000)) }
            #expect(try await remote.numbers().count == 3)
            withExtendedLifetime(local) {}
            try await check(systems[0], systems[1])
        }
    }

    private func version(of system: ClusterSystem, to peer: ClusterSystem) -> UInt16? {
        system.link(to: peer.node)?.version
    }

    @Test(arguments: [2...2, 2...3] as [ClosedRange<UInt16>])
    func `a node of version 2 works with one that speaks version 3 too, and neither knows the other's clock`(
        newer: ClosedRange<UInt16>
    ) async throws {
        try await meet([2...2, newer]) { one, other in
            #expect(version(of: one, to: other) == 2 && version(of: other, to: one) == 2)
            #expect(one.roundTrip(to: other.node) != nil)
            #expect(one.clockOffset(of: other.node) == nil && other.clockOffset(of: one.node) == nil)
        }
    }

    /// Such a clock reads 0 on the wire, as a machine without a battery has it.
    @Test func `a clock before 1970 is reported by how much it is wrong at least`() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let years = Duration.milliseconds(Int64(WallClock.milliseconds))
        try await meet([2...3, 2...3], clock: { 0 }, lines: lines) { one, other in
            let behind = try #require(one.clockOffset(of: other.node))
            let ahead = try #require(other.clockOffset(of: one.node))
            #expect(behind < .seconds(5) - years && behind > .zero - years - .seconds(300))
            #expect(ahead > years - .seconds(5) && ahead < years + .seconds(300))
        }
        #expect(lines.withLockedValue { $0 }.count { $0.contains("the clock of another node differs") } == 2)
        #expect(ClusterSystem.words(.seconds(2_000_000_000), own: 0) == "at least 2000000000 s")
        #expect(ClusterSystem.words(.zero - years, own: WallClock.milliseconds).hasPrefix("at most -1"))
        #expect(ClusterSystem.words(.seconds(-100), own: WallClock.milliseconds) == "-100 s")
    }

    @Test func `two nodes of version 3 know their clock offset, and report a large one`()
        async throws
    {
        let lines = NIOLockedValueBox<[String]>([])
        try await meet([2...3, 2...3], ahead: 100_000, lines: lines) { one, other in
            #expect(version(of: one, to: other) == 3)
            let ahead = try #require(one.clockOffset(of: other.node))
            let behind = try #require(other.clockOffset(of: one.node))
            // To within half a round trip, which takes a while on a busy machine.
            #expect(ahead > .seconds(95) && ahead < .seconds(105))
            #expect(behind < .seconds(-95) && behind > .seconds(-105))
        }
        let warnings = lines.withLockedValue { $0 }.filter { $0.contains("clock") }
        #expect(warnings.count == 2, "one on each side: \(warnings)")
    }

    @Test func `clocks that agree are not reported`() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        try await meet([2...3, 2...3], ahead: 300, lines: lines) { _, _ in }
        #expect(lines.withLockedValue { $0 }.allSatisfy { !$0.contains("clock") })
    }

    @Test(arguments: [0, UInt64.max])
    func `an absurd clock does no harm`(clock: UInt64) async throws {
        try await TestCluster.run([TestCluster.settings("server")]) { systems in
            var hello = RawPeer.hello()
            hello.maximumVersion = 3
            try await RawPeer.run(to: systems[0], hello: hello) { peer, inbound, outbound in
                _ = try await peer.next([.ping], &inbound)
                try await outbound.write(RawPeer.bytes(Frame(.pong, body: ByteBuffer(integer: clock))))
                try await outbound.write(RawPeer.bytes(Frame(.ping)))
                let pong = try #require(try await peer.next([.pong], &inbound))
                #expect(pong.body.readableBytes == 8)
                #expect(systems[0].clockOffset(of: hello.node) != nil)
            }
        }
    }

    @Test func `a pong of version 3 without a time ends the link`() async throws {
        try await TestCluster.run([TestCluster.settings("server")]) { systems in
            try await RawPeer.run(to: systems[0]) { peer, inbound, outbound in
                _ = try await peer.next([.ping], &inbound)
                try await outbound.write(RawPeer.bytes(Frame(.pong)))
                #expect(await peer.isClosed(&inbound))
            }
        }
    }
}
