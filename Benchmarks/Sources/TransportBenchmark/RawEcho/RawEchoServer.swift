import NIOCore
import NIOPosix

/// Sends every message back, on the event loop and without a task: as fast as NIO goes on this machine.
struct RawEchoServer: Sendable {
    private let channel: any Channel

    init(on group: any EventLoopGroup) async throws {
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RawEchoServerHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    func close() async throws { try await channel.close() }
}

private final class RawEchoServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var cutter = MessageCutter()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        cutter.append(unwrapInboundIn(data))
        while let message = cutter.next() { context.write(wrapOutboundOut(message), promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
    }
}
