import Base
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

/// The node's door for clients that speak HTTP: probes, Prometheus, programs in other languages.
struct HTTPServer: Sendable {
    let address: NodeAddress
    /// Whether somebody asked for it; otherwise a port that is taken is not an error.
    let isWanted: Bool
    let token: String?
    let hosts: HostNames
    let metrics: MetricsRegistry
    var limits = HTTPLimits()

    /// A date in the form of RFC 9110, section 5.6.7: Sun, 06 Nov 1994 08:49:37 GMT.
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

    /// Answers HTTP on an address with `respond`.
    ///
    /// - Parameter onRunning: is given the address, once the server listens on it.
    static func server(
        host: String, port: Int, _ connections: HTTPConnections, respond: @escaping WatchedChannel.Responder,
        onRunning: @escaping @Sendable (SocketAddress?) -> Void
    ) -> any Service {
        // Hummingbird's own log lines are for people who look for a fault in it.
        let silent = Logger(label: "http") { _ in SwiftLogNoOpLogHandler() }
        // This is not hummingbird's `Application`, which wakes up every second to know the time. Its limit of connections is not
        // used either: it lets the clients that have the connections keep everybody else out.
        let channel = WatchedChannel(connections: connections) { request, connection in
            var response = await respond(request, connection)
            response.headers[.date] = HTTPServer.date(.now)
            return response
        }
        return channel.server(
            configuration: ServerConfiguration(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in onRunning(channel.localAddress) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: silent)
    }

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
