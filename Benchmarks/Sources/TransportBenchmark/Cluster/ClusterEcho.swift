import BenchmarkNodes
import NIOCore
import Transport

/// Calls of a distributed actor over our own transport.
struct ClusterEcho: Contestant {
    /// The type as which the message is passed to the method.
    enum Argument: Sendable {
        case array
        case buffer
    }

    let name: String
    private let argument: Argument
    private let system: ClusterSystem
    private let echo: Echo

    init(_ name: String, _ argument: Argument, to address: NodeAddress, _ settings: ClusterSettings) async throws {
        self.name = name
        self.argument = argument
        (system, echo) = try await BenchmarkNode.client(settings, to: address)
    }

    func run(_ load: Load, for duration: Duration) async throws -> Sample {
        switch argument {
        case .array:
            let bytes = [UInt8](repeating: 7, count: load.bytes)
            return try await ClosedLoop.run(load, for: duration) {
                guard try await echo.bytes(bytes).count == bytes.count else { throw WrongEcho(contestant: name) }
            }
        case .buffer:
            let buffer = ByteBuffer(repeating: 7, count: load.bytes)
            return try await ClosedLoop.run(load, for: duration) {
                guard try await echo.buffer(buffer).readableBytes == buffer.readableBytes else {
                    throw WrongEcho(contestant: name)
                }
            }
        }
    }

    func close() async { await system.shutdown() }
}
