import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import SkyCore
import Transport

/// The node's door for what speaks HTTP: probes, Prometheus, programs in other languages.
struct HTTPServer: Sendable {
    let address: NodeAddress
    /// Whether somebody asked for it; otherwise a port that is taken is no trouble.
    let isWanted: Bool
    let token: String?
    let metrics: MetricsRegistry

    /// Connections at a time, and how long one may do nothing.
    private static let connectionLimit = 256
    private static let idleLimit = TimeAmount.seconds(60)

    /// Serves until cancelled.
    ///
    /// - Throws: `CommandFailure` where the address cannot be listened on.
    func run(_ node: Node) async throws {
        guard case .hostPort(let host, let port) = address else { return }
        let logger = node.system.logger
        // Hummingbird's own lines are for those who look for a fault of it.
        let silent = Logger(label: "http") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            responder: API(node: node, metrics: metrics, token: token),
            server: .http1(configuration: .init(idleTimeout: HTTPServer.idleLimit)),
            configuration: .init(
                address: .hostname(host, port: port), serverName: nil,
                availableConnectionsDelegate: MaximumAvailableConnections(HTTPServer.connectionLimit, logger: silent)),
            onServerRunning: { channel in
                logger.info("http", metadata: ["address": "\(channel.localAddress.map { "\($0)" } ?? "?")"])
            },
            logger: silent)
        // Not a child, but owned and ended by this function: a child would hear of the shutdown and close the door at once, while
        // the node still lets its tasks end and has /readyz say so.
        let serving = Task.detached { try await application.run() }
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
