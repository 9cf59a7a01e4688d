import CoreMetrics
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@testable import Transport

/// What discovery reports to the node that it belongs to. The nodes here have neither links nor a listening socket.
@Suite(.timeLimit(.minutes(5))) struct DiscoveryTests {
    private final class Owner: DiscoveryOwner {
        let id: NodeID
        let listeningAddress: NodeAddress?
        let linked: NIOLockedValueBox<Set<NodeID>> = NIOLockedValueBox([])
        let reports: AsyncStream<DiscoveryReport>
        private let continuation: AsyncStream<DiscoveryReport>.Continuation

        var advertised: NodeAddress? { listeningAddress }
        var linkCount: Int { linked.withLockedValue { $0.count } }

        init(_ id: UInt64, port: Int) {
            self.id = NodeID(rawValue: id)
            listeningAddress = .hostPort(host: "127.0.0.1", port: port)
            (reports, continuation) = AsyncStream.makeStream()
        }

        func isLinked(_ node: NodeID) -> Bool { linked.withLockedValue { $0.contains(node) } }

        func report(_ report: DiscoveryReport) { continuation.yield(report) }

        /// The first report that `wanted` accepts.
        func first(_ wanted: (DiscoveryReport) -> Bool) async -> DiscoveryReport? {
            for await report in reports where wanted(report) { return report }
            return nil
        }

        func discovery(
            _ multicast: MulticastSettings, cluster: String = "skynet", security: TransportSecurity = .none
        ) -> Discovery {
            let start = ContinuousClock.now
            return Discovery(
                settings: multicast, owner: self,
                environment: DiscoveryEnvironment(
                    node: id, name: "node \(id)", cluster: cluster, security: security,
                    loop: MultiThreadedEventLoopGroup.singleton.next(), now: { .now - start },
                    metrics: TransportMetrics(NOOPMetricsHandler.instance),
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        }
    }

    @Test func `a node that is heard is reported with its address, and so is its goodbye`() async throws {
        let multicast = TestCluster.multicast()
        let (anna, boris) = (Owner(1, port: 7001), Owner(2, port: 7002))
        let (listening, leaving) = (anna.discovery(multicast), boris.discovery(multicast))
        try await listening.start()
        try await leaving.start()
        let heard = await anna.first { if case .heard(boris.id, _) = $0 { true } else { false } }
        guard case .heard(_, let addresses) = heard else { return }
        #expect(addresses == [.hostPort(host: "127.0.0.1", port: 7002)])
        let suggested = await anna.first { if case .suggested = $0 { true } else { false } }
        guard case .suggested(boris.id, at: [.hostPort(host: "127.0.0.1", port: 7002)]) = suggested else {
            Issue.record("\(String(describing: suggested))")
            return
        }
        await leaving.stop()
        let left = await anna.first { if case .left = $0 { true } else { false } }
        guard case .left(boris.id, name: "node \(boris.id)") = left else {
            Issue.record("\(String(describing: left))")
            return
        }
        await listening.stop()
    }

    @Test func `a member's question is answered, and a node ignores its own beacons`() async throws {
        let multicast = TestCluster.multicast()
        let (anna, boris) = (Owner(1, port: 7001), Owner(2, port: 7002))
        anna.linked.withLockedValue { _ = $0.insert(boris.id) }
        boris.linked.withLockedValue { _ = $0.insert(anna.id) }
        let (one, other) = (anna.discovery(multicast), boris.discovery(multicast))
        try await one.start()
        try await other.start()
        // The beacons of the start have come once anna was heard often enough.
        for _ in 0..<2 { _ = await boris.first { if case .heard(anna.id, _) = $0 { true } else { false } } }
        other.ask()
        let answer = await boris.first { report in
            if case .heard(let node, _) = report {
                #expect(node == anna.id, "a node does not hear itself")
                return true
            }
            return false
        }
        #expect(answer != nil)
        await one.stop()
        await other.stop()
    }

    @Test(arguments: [0, 95, -95]) func `a command is answered whatever its clock says`(seconds: Int64) async throws {
        let multicast = TestCluster.multicast()
        let anna = Owner(1, port: 7001)
        let security = TransportSecurity.clusterKey(try ClusterKey.make(now: .now))
        let (node, seal) = (
            anna.discovery(multicast, security: security), BeaconSeal(cluster: "skynet", security: security)
        )
        let (heard, continuation) = AsyncStream.makeStream(of: Beacon.self)
        let sockets = BeaconSockets(multicast, loop: MultiThreadedEventLoopGroup.singleton.next()) { envelope in
            if let beacon = try? seal.open(envelope.data), beacon.node == anna.id { continuation.yield(beacon) }
        }
        try await sockets.bind()
        for path in BeaconPath.plan(try NetworkInterface.all(), named: [], listening: anna.listeningAddress) {
            try await sockets.open(path)
        }
        try await node.start()
        var beacons = heard.makeAsyncIterator()
        // Two questions and an announcement at its start; from then on it sends every four seconds.
        while let beacon = await beacons.next(), beacon.kind != .announce {}
        let asked = WallClock.milliseconds
        let sent = UInt64(Int64(asked) - seconds * 1000)
        sockets.send { _ in
            seal.seal(
                Beacon(
                    .solicit, cluster: seal.cluster, node: NodeID(rawValue: 9), sequence: 1, sent: sent,
                    validity: Beacon.standardValidity, port: 0, name: "?"))
        }
        let answer = try #require(await beacons.next())
        #expect(answer.sent < asked + 2500, "it is an answer, and not the usual beacon")
        await node.stop()
        await sockets.close()
    }

    @Test func `another cluster's nodes are not reported`() async throws {
        let multicast = TestCluster.multicast()
        let (anna, stranger, boris) = (Owner(1, port: 7001), Owner(2, port: 7002), Owner(3, port: 7003))
        let ours = anna.discovery(multicast)
        let foreign = stranger.discovery(multicast, cluster: "other")
        try await ours.start()
        try await foreign.start()
        // Whatever the stranger says at its start has been heard before its goodbye, and that before boris's start.
        await foreign.stop()
        let later = boris.discovery(multicast)
        try await later.start()
        let first = await anna.first { _ in true }
        guard case .heard(boris.id, _) = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        await later.stop()
        await ours.stop()
    }
}
