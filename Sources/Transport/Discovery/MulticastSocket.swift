import NIOCore
import NIOPosix

/// Opens the sockets that discovery needs.
enum MulticastSocket {
    /// Hears the group on all `interfaces`.
    static func receiver(
        _ settings: MulticastSettings, on interfaces: [NetworkInterface], group: any EventLoopGroup,
        _ receive: @escaping @Sendable (AddressedEnvelope<ByteBuffer>) -> Void
    ) async throws -> any Channel {
        let address = try SocketAddress(ipAddress: settings.group, port: settings.port)
        let channel = try await DatagramBootstrap(group: group)
            .channelOption(.socketOption(.so_reuseaddr), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DatagramReceiver(receive: receive))
                }
            }
            .bind(to: address).get()
        guard let provider = channel as? any SocketOptionProvider else { return channel }
        for interface in interfaces {
            guard let membership = IPv4Membership(group: settings.group, interface: interface.ip) else { continue }
            // An interface that refuses (ENODEV while it goes down, EADDRINUSE for a second address on it) is one
            // way less to be heard, not a reason to give up.
            try? await provider.unsafeSetSocketOption(level: .ip, name: .ip_add_membership, value: membership).get()
        }
        return channel
    }

    /// Sends from one interface's address, out of that interface.
    static func sender(
        _ settings: MulticastSettings, on interface: NetworkInterface, group: any EventLoopGroup
    ) async throws -> any Channel {
        let channel = try await DatagramBootstrap(group: group).bind(host: interface.ip, port: 0).get()
        guard let provider = channel as? any SocketOptionProvider, let bytes = IPv4.bytes(of: interface.ip) else {
            return channel
        }
        // An `in_addr` is its four bytes in network order.
        let address = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        try await provider.unsafeSetSocketOption(level: .ip, name: .ip_multicast_if, value: address).get()
        try await provider.setIPMulticastTTL(UInt8(clamping: settings.timeToLive)).get()
        return channel
    }
}

/// `ip_mreq`: a group and the interface to hear it on, both in network order. NIO's own way of joining leaves out
/// interfaces that do not claim to support multicast, and `lo` is one of them.
private struct IPv4Membership {
    var group: UInt32
    var interface: UInt32

    init?(group: String, interface: String) {
        guard let group = IPv4.bytes(of: group), let interface = IPv4.bytes(of: interface) else { return nil }
        self.group = group.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        self.interface = interface.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    }
}

private final class DatagramReceiver: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let receive: @Sendable (AddressedEnvelope<ByteBuffer>) -> Void

    init(receive: @escaping @Sendable (AddressedEnvelope<ByteBuffer>) -> Void) {
        self.receive = receive
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        receive(unwrapInboundIn(data))
    }
}
