import Logging
public import NIOCore
public import Transport

/// Either end of a link that is measured.
public enum BenchmarkNode {
    /// Settings of an end on loopback.
    ///
    /// - Parameter listens: whether it accepts connections, on a port that the system chooses.
    public static func settings(_ name: String, on group: any EventLoopGroup, listens: Bool) -> ClusterSettings {
        var settings = ClusterSettings(name: name)
        settings.cluster = "benchmark"
        settings.listen = listens ? .hostPort(host: "127.0.0.1", port: 0) : nil
        settings.eventLoopGroup = group
        settings.logger = Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
        // A machine that is busy with the measurement itself must not look like a dead peer.
        settings.silenceLimit = .seconds(30)
        return settings
    }

    /// An end that listens, with its actor. The actor lives as long as somebody holds it.
    public static func server(_ settings: ClusterSettings) async throws -> (system: ClusterSystem, echo: Echo) {
        let system = ClusterSystem(settings)
        let echo = ClusterSystem.withActorName(Echo.name) { Echo(actorSystem: system) }
        try await system.start()
        return (system, echo)
    }

    /// An end that dials, with its link.
    public static func client(
        _ settings: ClusterSettings, to address: NodeAddress
    ) async throws -> (system: ClusterSystem, echo: Echo) {
        let system = ClusterSystem(settings)
        try await system.start()
        do {
            let peer = try await system.join(address)
            return (system, try Echo.resolve(id: ActorAddress(node: peer.node, name: Echo.name), using: system))
        } catch {
            await system.shutdown()
            throw error
        }
    }
}
