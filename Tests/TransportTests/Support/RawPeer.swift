import NIOCore
import NIOPosix
import Testing

@testable import Transport

/// A peer that is no node of ours: speaks raw frames over a real socket, and reads only when it is asked to.
final class RawPeer {
    let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private var decoder = FrameDecoder(limit: FrameLimits.data)

    private init(_ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>) {
        self.channel = channel
    }

    /// Connects, and says hello if a hello is given.
    static func run(
        to server: ClusterSystem, hello: Hello? = RawPeer.hello(),
        _ body: (
            RawPeer, inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
            NIOAsyncChannelOutboundWriter<ByteBuffer>
        ) async throws -> Void
    ) async throws {
        guard case .hostPort(let host, let port) = server.listeningAddress else { return }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { inbound, outbound in
            if let hello { try await outbound.write(bytes(try Handshake.frame(hello))) }
            var iterator = inbound.makeAsyncIterator()
            try await body(RawPeer(channel), &iterator, outbound)
        }
    }

    static func hello(limits: LinkLimits = .init()) -> Hello {
        Hello(cluster: "skynet", node: .random(), name: "mallory", role: .node, advertised: nil, limits: limits)
    }

    static func bytes(_ frame: Frame) -> ByteBuffer {
        var buffer = ByteBuffer()
        frame.write(into: &buffer)
        return buffer
    }

    /// The next frame of one of the kinds; `nil` where the connection ends first.
    func next(
        _ kinds: [Frame.Kind], _ inbound: inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    ) async throws -> Frame? {
        while true {
            while let frame = try decoder.next() { if kinds.contains(frame.kind) { return frame } }
            guard let more = try await inbound.next() else { return nil }
            decoder.append(more)
        }
    }

    /// Whether the other side ends the connection, whatever it sends before.
    func isClosed(_ inbound: inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator) async -> Bool {
        do { while try await inbound.next() != nil {} } catch {}
        return true
    }
}
