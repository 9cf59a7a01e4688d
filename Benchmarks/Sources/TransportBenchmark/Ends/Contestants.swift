import BenchmarkNodes
import NIOPosix
import Transport

/// This end: a connection of every contestant, all on one event loop.
struct Contestants: Sendable {
    /// The contestants, in the order in which they take their turns.
    let all: [any Contestant]

    init(_ ports: Ports, keyPath: String) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var all: [any Contestant] = [
            try await RawEcho(port: ports.raw, on: group),
            try GRPCEcho(port: ports.grpc, on: group, coalesces: true),
            try GRPCEcho(port: ports.grpcWithoutDelay, on: group, coalesces: false),
        ]
        let settings = BenchmarkNode.settings("client", on: group, listens: false)
        let address = NodeAddress.hostPort(host: "127.0.0.1", port: ports.cluster)
        all.append(try await ClusterEcho(Names.array, .array, to: address, settings))
        all.append(try await ClusterEcho(Names.buffer, .buffer, to: address, settings))
        if let port = ports.secureCluster {
            let settings = try BenchmarkSecurity.secure(settings, keyPath: keyPath)
            let address = NodeAddress.hostPort(host: "127.0.0.1", port: port)
            all.append(try await ClusterEcho(Names.secureArray, .array, to: address, settings))
            all.append(try await ClusterEcho(Names.secureBuffer, .buffer, to: address, settings))
        }
        self.all = all
    }

    /// Leaves the event loop running, as `Servers` does.
    func close() async throws {
        for contestant in all { try await contestant.close() }
    }
}
