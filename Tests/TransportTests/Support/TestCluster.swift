import Logging
import NIOCore
import NIOPosix
import Testing

@testable import Transport

/// Actor systems on loopback, taken down after the test whatever happens.
enum TestCluster {
    static func settings(_ name: String) -> ClusterSettings {
        var settings = ClusterSettings(name: name)
        settings.listen = .hostPort(host: "127.0.0.1", port: 0)
        // The whole suite runs at once on two cores, so a peer may be kept waiting for seconds.
        settings.silenceLimit = .seconds(30)
        settings.standardDeadline = .seconds(60)
        settings.logger = Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
        return settings
    }

    /// A loopback address that no other test uses, for what has to be known before anybody listens there; printed, since it may
    /// be why a test is red.
    static func loopbackAddress() -> NodeAddress {
        let bytes = (0..<3).map { _ in Int.random(in: 2...250) }
        let address = NodeAddress.hostPort(host: "127.\(bytes[0]).\(bytes[1]).\(bytes[2])", port: 17_420)
        print("loopback address \(address)")
        return address
    }

    /// A multicast group of the test's own, so that tests do not hear each other; printed as well.
    static func multicast() -> MulticastSettings {
        var settings = MulticastSettings()
        settings.group = "239.255.\(Int.random(in: 1...254)).\(Int.random(in: 1...254))"
        settings.port = Int.random(in: 20_000...60_000)
        settings.interfaces = ["lo"]
        print("multicast group \(settings.group):\(settings.port)")
        return settings
    }

    /// Starts a system for each of the settings, runs `body`, shuts all down.
    static func run(_ settings: [ClusterSettings], _ body: ([ClusterSystem]) async throws -> Void) async throws {
        let systems = settings.map { ClusterSystem($0) }
        do {
            for system in systems { try await system.start() }
            try await body(systems)
        } catch {
            for system in systems { await system.shutdown() }
            throw error
        }
        for system in systems { await system.shutdown() }
    }

    /// A single loop, as a small machine's daemon has. A `Ledger` works on it, an `Echo` does not.
    static let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// Two systems with a link from the second to the first, which has a single loop.
    static func pair(_ body: (_ server: ClusterSystem, _ client: ClusterSystem) async throws -> Void) async throws {
        var server = settings("server")
        server.eventLoopGroup = loop
        try await run([server, settings("client")]) { systems in
            let address = try #require(systems[0].listeningAddress)
            try await systems[1].join(address)
            try await systems[0].hears { if case .joined = $0 { true } else { false } }
            try await body(systems[0], systems[1])
        }
    }
}

extension ClusterSystem {
    /// Waits for a membership event, ten seconds at most.
    ///
    /// - Parameter events: begun before what is to be heard happens, where that happens once.
    func hears(
        within limit: Duration = .seconds(10), in events: AsyncStream<MembershipEvent>? = nil,
        _ wanted: @escaping @Sendable (MembershipEvent) -> Bool
    ) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            let events = events ?? membershipEvents()
            group.addTask {
                for await event in events where wanted(event) { return true }
                return false
            }
            group.addTask {
                try await Task.sleep(for: limit)
                return false
            }
            let heard = try await group.next()
            #expect(heard == true, "\(name) did not hear the event in time")
            group.cancelAll()
        }
    }
}
