import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
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

    /// As RFC 9110, section 5.6.7, has it: Sun, 06 Nov 1994 08:49:37 GMT.
    static func date(_ date: Date) -> String {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let part = calendar.dateComponents([.weekday, .day, .month, .year, .hour, .minute, .second], from: date)
        let two = { (number: Int?) in
            let text = "\(number ?? 0)"
            return text.count < 2 ? "0" + text : text
        }
        let (day, month) = (days[(part.weekday ?? 1) - 1], months[(part.month ?? 1) - 1])
        return
            "\(day), \(two(part.day)) \(month) \(part.year ?? 0) \(two(part.hour)):\(two(part.minute)):\(two(part.second)) GMT"
    }

    /// Serves until cancelled.
    ///
    /// - Throws: `CommandFailure` where the address cannot be listened on.
    func run(_ node: Node) async throws {
        guard case .hostPort(let host, let port) = address else { return }
        let logger = node.system.logger
        // Hummingbird's own lines are for those who look for a fault of it.
        let silent = Logger(label: "http") { _ in SwiftLogNoOpLogHandler() }
        let api = API(node: node, metrics: metrics, token: token)
        let configuration = ServerConfiguration(
            address: .hostname(host, port: port), serverName: nil,
            availableConnectionsDelegate: MaximumAvailableConnections(HTTPServer.connectionLimit, logger: silent))
        // Not hummingbird's `Application`, which wakes up every second to know the time.
        let server = try HTTPServerBuilder.http1(configuration: .init(idleTimeout: HTTPServer.idleLimit)).buildServer(
            configuration: configuration, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: silent
        ) { request, writer, _ in
            var response = await api.respond(to: request)
            response.headers[.date] = HTTPServer.date(.now)
            try await writer.write(response: response.head, body: response.body)
        } onServerRunning: { channel in
            logger.info("http", metadata: ["address": "\(channel.localAddress.map { "\($0)" } ?? "?")"])
        }
        // Not a child, but owned and ended by this function: a child would hear of the shutdown and close the door at once, while
        // the node still lets its tasks end and has /readyz say so.
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
