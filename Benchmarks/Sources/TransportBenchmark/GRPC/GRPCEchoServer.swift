import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOPosix

/// A gRPC server over HTTP/2 without TLS.
struct GRPCEchoServer: Sendable {
    let port: Int
    private let server: GRPCServer<HTTP2ServerTransport.Posix>
    /// Runs the server; ends after `close`.
    private let task: Task<Void, any Error>

    /// - Parameter coalesces: whether flushes may wait for more, as is grpc-swift's default. That is better for many calls at once
    ///   and worse for one.
    init(on group: MultiThreadedEventLoopGroup, coalesces: Bool) async throws {
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext,
            config: .defaults { config in
                // This is the window of the client's defaults; the server's own of 64 KiB slows down large messages.
                config.http2.targetWindowSize = 8 * 1024 * 1024
                if !coalesces { config.connection.flushCoalescing = nil }
            },
            eventLoopGroup: group)
        let server = GRPCServer(transport: transport, services: [GRPCEchoService()])
        self.server = server
        task = Task { try await server.serve() }
        port = try await transport.listeningAddress.ipv4?.port ?? 0
    }

    func close() async throws {
        server.beginGracefulShutdown()
        try await task.value
    }
}
