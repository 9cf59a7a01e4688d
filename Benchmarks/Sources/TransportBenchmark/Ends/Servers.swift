import BenchmarkNodes
import NIOPosix
import Transport

/// The other end: a server of every contestant, all on one event loop. Only one of them is called at a time.
struct Servers: Sendable {
    let ports: Ports
    private let raw: RawEchoServer
    private let grpc: [GRPCEchoServer]
    private let clusters: [(system: ClusterSystem, echo: Echo)]

    /// - Parameter keyPath: the cluster key of the secured contestants, which the caller has written.
    init(keyPath: String) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        raw = try await RawEchoServer(on: group)
        grpc = [
            try await GRPCEchoServer(on: group, coalesces: true),
            try await GRPCEchoServer(on: group, coalesces: false),
        ]
        let settings = BenchmarkNode.settings("server", on: group, listens: true)
        var clusters = [try await BenchmarkNode.server(settings)]
        if BenchmarkSecurity.isAvailable {
            clusters.append(try await BenchmarkNode.server(BenchmarkSecurity.secure(settings, keyPath: keyPath)))
        }
        self.clusters = clusters
        let clusterPorts = clusters.compactMap { cluster -> Int? in
            guard case .hostPort(_, let port) = cluster.system.listeningAddress else { return nil }
            return port
        }
        ports = Ports(
            raw: raw.port, grpc: grpc[0].port, grpcWithoutDelay: grpc[1].port, cluster: clusterPorts[0],
            secureCluster: clusterPorts.count > 1 ? clusterPorts[1] : nil)
    }

    /// Leaves the event loop running: grpc-swift still uses it for a moment, and the process ends anyway.
    func close() async throws {
        for cluster in clusters { await cluster.system.shutdown() }
        for server in grpc { try await server.close() }
        try await raw.close()
    }
}
