import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct ClusterSystemTests {
    private func joined(_ name: String) -> @Sendable (MembershipEvent) -> Bool {
        { if case .joined(let member) = $0 { member.name == name } else { false } }
    }

    @Test func `nodes find each other by multicast on the loopback interface`() async throws {
        let multicast = TestCluster.multicast()
        let names = ["anna", "boris", "clara"]
        let settings = names.map { name in
            var settings = TestCluster.settings(name)
            settings.multicast = multicast
            return settings
        }
        try await TestCluster.run(settings) { systems in
            for system in systems {
                for name in names where name != system.name { try await system.hears(joined(name)) }
            }
            for system in systems { #expect(Set(system.members.map(\.name) + [system.name]) == Set(names)) }
        }
    }

    @Test func `a command finds a node by asking`() async throws {
        var settings = TestCluster.settings("anna")
        let multicast = TestCluster.multicast()
        settings.multicast = multicast
        try await TestCluster.run([settings]) { systems in
            let found = try await NodeFinder.find(multicast, cluster: "skynet", security: .none)
            #expect(found == systems[0].listeningAddress)
            let stranger = try await NodeFinder.find(multicast, cluster: "other", security: .none)
            #expect(stranger == nil)
        }
    }

    @Test(arguments: [true, false])
    func `a command with another key hears at once that nodes are there, and they do not take it for one`(
        hasKey: Bool
    ) async throws {
        let lines = NIOLockedValueBox<[String]>([])
        var settings = TestCluster.settings("anna")
        let multicast = TestCluster.multicast()
        settings.multicast = multicast
        settings.security = .clusterKey(try ClusterKey.make(now: .now))
        settings.logger = Logger(label: "anna") { LineKeeper(label: $0, lines: lines) }
        settings.logger.logLevel = .notice
        let other: TransportSecurity = hasKey ? .clusterKey(try ClusterKey.make(now: .now)) : .none
        try await TestCluster.run([settings]) { systems in
            // Its own beacons come seconds apart: it answers each question.
            for _ in 1...3 {
                let heard = try await NodeFinder.listen(multicast, cluster: "skynet", security: other) { sightings in
                    for await case .stranger(let stranger) in sightings { return stranger as NodeFinder.Stranger? }
                    return nil
                }
                #expect(heard?.address == systems[0].listeningAddress.map { "\($0)" })
            }
        }
        #expect(lines.withLockedValue { $0 } == [])
    }

    @Test func `one seed is enough to meet everybody`() async throws {
        try await TestCluster.run([TestCluster.settings("seed")]) { seed in
            let address = try #require(seed[0].listeningAddress)
            let others = ["b", "c"].map { name in
                var settings = TestCluster.settings(name)
                settings.join = [address]
                return settings
            }
            try await TestCluster.run(others) { systems in
                try await systems[0].hears(joined("c"))
                try await systems[1].hears(joined("b"))
            }
        }
    }

    @Test func `a node dials until the other one listens`() async throws {
        // Nobody else uses it, so that the port stays free until the late one takes it.
        let address = TestCluster.loopbackAddress()
        var early = TestCluster.settings("early")
        early.join = [address]
        var late = TestCluster.settings("late")
        late.listen = address
        try await TestCluster.run([early, late]) { systems in
            try await systems[0].hears(joined("late"))
        }
    }

    @Test func `a node that shuts down is reported as having left`() async throws {
        try await TestCluster.run([TestCluster.settings("stays")]) { systems in
            let leaver = ClusterSystem(TestCluster.settings("leaves"))
            try await leaver.start()
            try await leaver.join(try #require(systems[0].listeningAddress))
            try await systems[0].hears(joined("leaves"))
            let events = systems[0].membershipEvents()
            await leaver.shutdown()
            try await systems[0].hears(in: events) { $0 == .left(leaver.node) }
            #expect(systems[0].members.isEmpty)
        }
    }

    @Test func `a draining node says so, also to nodes that join later`() async throws {
        try await TestCluster.pair { server, client in
            server.drain(true)
            let node = server.node
            try await client.hears(draining(node, true))
            #expect(client.members.first?.isDraining == true)
            let late = ClusterSystem(TestCluster.settings("late"))
            try await late.start()
            try await late.join(try #require(server.listeningAddress))
            // The client may have been introduced by now.
            let member = late.members.first { $0.node == node }
            #expect(member?.isDraining == true && member?.found == .join)
            server.drain(false)
            try await late.hears(draining(node, false))
            await late.shutdown()
        }
    }

    @Test func `of several addresses the first node that answers counts, and there is an error where none does`()
        async throws
    {
        try await TestCluster.run([TestCluster.settings("server"), TestCluster.settings("client")]) { systems in
            // It accepts and says nothing.
            let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "127.0.0.1", port: 0).get()
            let nobody = NodeAddress.hostPort(host: "127.0.0.1", port: try #require(silent.localAddress?.port))
            let closed = NodeAddress.hostPort(host: "127.0.0.1", port: 1)
            let server = try #require(systems[0].listeningAddress)
            #expect(try await systems[1].join(firstOf: [nobody, closed, server]).node == systems[0].node)
            for none in [[], [closed, closed]] {
                await #expect(throws: (any Error).self) { try await systems[1].join(firstOf: none) }
            }
            try await silent.close()
        }
    }

    /// A late listener gets the present members and their state.
    private func draining(_ node: NodeID, _ isDraining: Bool) -> @Sendable (MembershipEvent) -> Bool {
        { event in
            switch event {
            case .draining(node, isDraining): true
            case .joined(let member): member.node == node && member.isDraining == isDraining
            default: false
            }
        }
    }

    @Test func `two nodes that dial each other at once end with one link`() async throws {
        for _ in 0..<20 {
            try await TestCluster.run([TestCluster.settings("a"), TestCluster.settings("b")]) { systems in
                let addresses = try systems.map { try #require($0.listeningAddress) }
                async let first = try? systems[0].join(addresses[1])
                async let second = try? systems[1].join(addresses[0])
                _ = await (first, second)
                try await systems[0].hears(joined("b"))
                try await systems[1].hears(joined("a"))
                let echo = ClusterSystem.withActorName("echo") { Echo(actorSystem: systems[1]) }
                let remote = try Echo.resolve(
                    id: ActorAddress(node: systems[1].node, name: "echo"), using: systems[0])
                // On whichever link it goes, and while that gives way to the other.
                for _ in 0..<20 { #expect(try await remote.echo("first") == "first") }
                #expect(systems[0].members.count == 1 && systems[1].members.count == 1)
                withExtendedLifetime(echo) {}
            }
        }
    }

    @Test func `a node that knows several addresses of another ends with one link that stays`() async throws {
        for _ in 0..<10 {
            try await TestCluster.run([TestCluster.settings("server")]) { servers in
                let address = try #require(servers[0].listeningAddress)
                guard case .hostPort(_, let port) = address else { return }
                var settings = TestCluster.settings("client")
                settings.join = [address, .hostPort(host: "localhost", port: port)]
                settings.join.append(address)
                try await TestCluster.run([settings]) { systems in
                    try await systems[0].hears(joined("server"))
                    try await servers[0].hears(joined("client"))
                    let echo = ClusterSystem.withActorName("echo") { Echo(actorSystem: servers[0]) }
                    let remote = try Echo.resolve(
                        id: ActorAddress(node: servers[0].node, name: "echo"), using: systems[0])
                    for _ in 0..<50 { #expect(try await remote.echo("once") == "once") }
                    // By now the second dial has been answered. Both sides hold the same one of the two.
                    _ = try? await systems[0].join(address)
                    let here = systems[0].link(to: servers[0].node)
                    let there = servers[0].link(to: systems[0].node)
                    #expect(here != nil && here?.candidate.dial == there?.candidate.dial)
                    withExtendedLifetime(echo) {}
                }
            }
        }
    }

    @Test func `a system that does not run dials nobody and does not start again`() async throws {
        try await TestCluster.run([TestCluster.settings("server")]) { systems in
            let address = try #require(systems[0].listeningAddress)
            let system = ClusterSystem(TestCluster.settings("idle"))
            await #expect(throws: TransportError.notRunning) { try await system.join(address) }
            await system.shutdown()
            await #expect(throws: TransportError.notRunning) { try await system.start() }
            #expect(systems[0].peers.isEmpty)
        }
    }

    @Test func `a system is freed after its shutdown`() async throws {
        let (freed, signal) = AsyncStream.makeStream(of: Never.self)
        try await TestCluster.run([TestCluster.settings("stays")]) { systems in
            let address = try #require(systems[0].listeningAddress)
            do {
                var settings = TestCluster.settings("goes")
                settings.multicast = TestCluster.multicast()
                let witness = Witness(signal)
                settings.logger = Logger(label: "goes") { _ in WitnessLogHandler(witness: witness) }
                let system = ClusterSystem(settings)
                try await system.start()
                try await system.join(address)
                await system.shutdown()
            }
            // Ends when the last holder of the system's logger is gone; the suite's time limit bounds the wait.
            for await _ in freed {}
        }
    }
}

/// Ends a stream when it is freed.
private final class Witness: Sendable {
    private let signal: AsyncStream<Never>.Continuation

    init(_ signal: AsyncStream<Never>.Continuation) {
        self.signal = signal
    }

    deinit {
        signal.finish()
    }
}

/// Logs nothing and holds a witness, as long as the system holds the logger.
private struct WitnessLogHandler: LogHandler {
    let witness: Witness
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.critical

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {}
}
