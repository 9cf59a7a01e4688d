import BenchmarkNodes
import Distributed
import NIOCore
import NIOPosix
import Transport

/// The things done over and over, on one server.
struct Work: Sendable {
    let system: ClusterSystem
    let echo: Echo
    let address: NodeAddress
    /// How a client is set up.
    let settings: ClusterSettings
    let census = Census()

    init(on group: MultiThreadedEventLoopGroup, keyPath: String?) async throws {
        func secured(_ settings: ClusterSettings) throws -> ClusterSettings {
            try keyPath.map { try BenchmarkSecurity.secure(settings, keyPath: $0) } ?? settings
        }
        (system, echo) = try await BenchmarkNode.server(
            secured(BenchmarkNode.settings("server", on: group, listens: true)))
        guard let address = system.listeningAddress else { throw TransportError.notRunning }
        self.address = address
        settings = try secured(BenchmarkNode.settings("client", on: group, listens: false))
    }

    func close() async { await system.shutdown() }

    /// Small calls over one link, 64 at a time.
    func calls(_ count: Int) async throws {
        let (client, remote) = try await BenchmarkNode.client(settings, to: address)
        census.add(client)
        let bytes = [UInt8](repeating: 7, count: 64)
        let callers = 64
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    for _ in stride(from: caller, to: count, by: callers) {
                        guard try await remote.bytes(bytes) == bytes else { throw SoakFailure("a wrong echo") }
                    }
                }
            }
            try await group.waitForAll()
        }
        await client.shutdown()
    }

    /// Systems that come, call once and go; a few of them at any time.
    func reconnects(_ count: Int) async throws {
        let visitors = 4
        try await withThrowingTaskGroup(of: Void.self) { group in
            for visitor in 0..<visitors {
                group.addTask {
                    for _ in stride(from: visitor, to: count, by: visitors) { try await visit() }
                }
            }
            try await group.waitForAll()
        }
    }

    private func visit() async throws {
        let (client, remote) = try await BenchmarkNode.client(settings, to: address)
        census.add(client)
        _ = try await remote.bytes([1, 2, 3])
        await client.shutdown()
    }

    /// Calls that the other side sleeps in until they are cancelled, fifty at a time.
    func cancellations(_ count: Int) async throws {
        let (client, remote) = try await BenchmarkNode.client(settings, to: address)
        census.add(client)
        for begin in stride(from: 0, to: count, by: 50) {
            let batch = min(50, count - begin)
            let calls = (0..<batch).map { _ in
                Task { try await withDeadline(.seconds(120)) { try await remote.sleep() } }
            }
            try await untilAsleep(batch)
            for call in calls { call.cancel() }
            for call in calls {
                let result = await call.result
                guard case .failure(is CancellationError) = result else {
                    throw SoakFailure("a cancelled call ended with \(result)")
                }
            }
            try await untilAsleep(0)
        }
        await client.shutdown()
    }

    /// Bodies of 64 MiB there and back, and short calls on the same link meanwhile, none of which may take long.
    func longBodies(_ count: Int) async throws {
        let (client, remote) = try await BenchmarkNode.client(settings, to: address)
        census.add(client)
        // The body is a little shorter than the longest body, to leave room for the header.
        let body = ByteBuffer(repeating: 7, count: 64 * 1024 * 1024 - 1024)
        var worst = Duration.zero
        for _ in 0..<count {
            worst = max(
                worst,
                try await withThrowingTaskGroup(of: Duration.self) { group in
                    group.addTask { try await pinging(remote) }
                    _ = try await withDeadline(.seconds(120)) { try await remote.buffer(body) }
                    group.cancelAll()
                    return try await group.next() ?? .zero
                })
        }
        print("  longest short call meanwhile: \(worst / .milliseconds(1)) ms")
        guard worst < Work.shortCallLimit else { throw SoakFailure("a short call waited for long bodies") }
        await client.shutdown()
    }

    /// How long a short call may take beside a long one.
    private static let shortCallLimit = Duration.milliseconds(50)

    /// Makes short calls until cancelled, and returns how long the longest took.
    private func pinging(_ remote: Echo) async throws -> Duration {
        let clock = ContinuousClock()
        var worst = Duration.zero
        while !Task.isCancelled {
            let time = await clock.measure { _ = try? await remote.bytes([1, 2, 3]) }
            if !Task.isCancelled { worst = max(worst, time) }
        }
        return worst
    }

    /// Waits until so many calls sleep in the actor.
    func untilAsleep(_ count: Int) async throws {
        let limit = ContinuousClock.now + .seconds(30)
        while await echo.whenLocal({ $0.callsAsleep() }) != count {
            guard ContinuousClock.now < limit else { throw SoakFailure("calls did not begin or end in 30 s") }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
