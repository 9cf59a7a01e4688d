import Logging
import NIOConcurrencyHelpers
import SkyCore
import Transport

@testable import SkyNode

/// A whole node in this process with its HTTP interface, of which a test can change the limits and the parts.
struct HTTPDoor {
    let port: Int
    let connections: HTTPConnections

    static let token = "0123456789abcdef"
    static let bearer = "Authorization: Bearer " + token

    /// Serves until `body` has ended.
    static func with(
        token: String? = nil, limits change: (inout HTTPLimits) -> Void = { _ in },
        parts changeParts: (inout API.Parts) -> Void = { _ in }, _ body: (HTTPDoor) async throws -> Void
    ) async throws {
        var limits = HTTPLimits()
        change(&limits)
        var cluster = ClusterSettings(name: "door")
        cluster.listen = .hostPort(host: "127.0.0.1", port: 0)
        cluster.logger = Logger(label: "door") { _ in SwiftLogNoOpLogHandler() }
        let node = try Node(
            NodeSettings(cluster: cluster, slots: 1, executable: "/nonexistent/skynode"),
            journal: try Journal.inMemory())
        try await node.start()
        var parts = API.Parts(node)
        changeParts(&parts)
        let connections = HTTPConnections(limits: limits)
        let api = API(
            parts: parts, metrics: MetricsRegistry(), token: token, hosts: HostNames(machine: "dome", extra: []),
            limits: limits, connections: connections)
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let server = HTTPServer.server(host: "127.0.0.1", port: 0, connections) { request, connection in
            await api.respond(to: request, from: connection)
        } onRunning: { address in
            found.yield(address?.port ?? 0)
        }
        let running = Task { await node.run() }
        let serving = Task { try await server.run() }
        var iterator = ports.makeAsyncIterator()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(HTTPDoor(port: await iterator.next() ?? 0, connections: connections)))
        } catch {
            result = .failure(error)
        }
        serving.cancel()
        running.cancel()
        _ = await serving.result
        await running.value
        try result.get()
    }

    func open() async throws -> RawConnection { try await RawConnection.open(port) }

    /// Asks on a connection of its own.
    func ask(_ path: String, _ fields: String...) async throws -> RawConnection.Answer? {
        let connection = try await open()
        defer { Task { await connection.close() } }
        try await connection.send(
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
        return await connection.answer()
    }
}
