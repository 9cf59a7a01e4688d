import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A server for HTTP, whatever it answers.
enum HTTPServer {
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
}
