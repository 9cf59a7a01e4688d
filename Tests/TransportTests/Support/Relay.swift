import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

@testable import Transport

/// A port that passes connections on to another address, as NAT does, and keeps what goes through.
final class Relay: Sendable {
    private let server: any Channel
    private let bytes: NIOLockedValueBox<[UInt8]>

    var address: NodeAddress {
        .hostPort(host: "127.0.0.1", port: server.localAddress?.port ?? 0)
    }

    /// Everything that went through, in both directions.
    var seen: [UInt8] { bytes.withLockedValue { $0 } }

    init(to address: NodeAddress) async throws {
        guard case .hostPort(let host, let port) = address else { throw ChannelError.unknownLocalAddress }
        let bytes = NIOLockedValueBox<[UInt8]>([])
        self.bytes = bytes
        server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { near in
                // The far side on the same loop, so that the two may use each other.
                ClientBootstrap(group: near.eventLoop)
                    .channelInitializer { far in
                        far.eventLoop.makeCompletedFuture {
                            try far.pipeline.syncOperations.addHandler(Passer(to: near, bytes))
                        }
                    }
                    .connect(host: host, port: port)
                    .flatMapThrowing { far in
                        try near.pipeline.syncOperations.addHandler(Passer(to: far, bytes))
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() async throws {
        try await server.close().get()
    }
}

private final class Passer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel
    private let bytes: NIOLockedValueBox<[UInt8]>

    init(to other: any Channel, _ bytes: NIOLockedValueBox<[UInt8]>) {
        self.other = other
        self.bytes = bytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        bytes.withLockedValue { $0.append(contentsOf: buffer.readableBytesView) }
        other.writeAndFlush(buffer, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
        context.fireChannelInactive()
    }
}
