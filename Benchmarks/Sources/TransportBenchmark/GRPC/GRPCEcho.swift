import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOPosix

/// Unary calls of grpc-swift 2 on one connection.
struct GRPCEcho: Contestant {
    let name: String
    private let client: GRPCClient<HTTP2ClientTransport.Posix>
    /// Runs the connection; ends after `close`.
    private let task: Task<Void, any Error>

    /// - Parameter coalesces: see `GRPCEchoServer`, which must be set the same.
    init(port: Int, on group: MultiThreadedEventLoopGroup, coalesces: Bool) throws {
        name = coalesces ? Names.grpc : Names.grpcWithoutDelay
        let client = GRPCClient(
            transport: try .http2NIOPosix(
                target: .ipv4(address: "127.0.0.1", port: port), transportSecurity: .plaintext,
                config: .defaults { if !coalesces { $0.connection.flushCoalescing = nil } },
                eventLoopGroup: group))
        self.client = client
        task = Task { try await client.runConnections() }
    }

    func run(_ load: Load, for duration: Duration) async throws -> Sample {
        let bytes = [UInt8](repeating: 7, count: load.bytes)
        return try await ClosedLoop.run(load, for: duration) {
            let answer = try await client.unary(
                request: ClientRequest(message: bytes), descriptor: GRPCEchoService.echo,
                serializer: BytesSerializer(), deserializer: BytesDeserializer(), options: .defaults
            ) { response in
                try response.message
            }
            guard answer.count == bytes.count else { throw WrongEcho(contestant: name) }
        }
    }

    func close() async throws {
        client.beginGracefulShutdown()
        try await task.value
    }
}
