import Base
import Logging
import NIOCore
import ServiceLifecycle
import SkyCore
import Transport

/// The node's door for clients that speak HTTP: probes, Prometheus, programs in other languages.
struct HTTPService: Sendable {
    let address: NodeAddress
    /// Whether somebody asked for it; otherwise a port that is taken is not an error.
    let isWanted: Bool
    let token: String?
    let hosts: HostNames
    let metrics: MetricsRegistry
    var limits = HTTPLimits()

    /// Serves until cancelled.
    ///
    /// - Throws: `CommandFailure` where the address cannot be listened on.
    func run(_ node: Node) async throws {
        guard case .hostPort(let host, let port) = address else { return }
        let logger = node.system.logger
        let connections = HTTPConnections(limits: limits)
        let api = API(
            parts: API.Parts(node), metrics: metrics, token: token, hosts: hosts, limits: limits,
            connections: connections)
        let server = HTTPServer.server(host: host, port: port, connections) { request, connection in
            await api.respond(to: request, from: connection)
        } onRunning: { address in
            logger.info("http", metadata: ["address": "\(address.map { "\($0)" } ?? "?")"])
            // The person who asked for it is told the address, since with port 0 nobody else knows it.
            guard isWanted, let address = address.flatMap(NodeAddress.init) else { return }
            Console.output("skynode \(node.system.name) answers HTTP on \(address)")
        }
        // This is not a child task, but this function owns it and ends it. A child would hear of the shutdown and close the door at
        // once, while the node still lets its tasks end and has /readyz say so.
        let serving = Task.detached { try await server.run() }
        do {
            try await withTaskCancellationHandler {
                try await serving.value
            } onCancel: {
                serving.cancel()
            }
        } catch is CancellationError {
        } catch {
            guard isWanted else {
                return logger.info("no http: the port is taken", metadata: ["address": "\(address)"])
            }
            throw CommandFailure(.usage, "--http \(address): cannot be listened on: \(PrintableText.of("\(error)"))")
        }
    }
}
