import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Opens the sockets that discovery needs.
///
/// Receivers are bound to the group's own address, so that no unicast reaches them, and share its port with the other
/// nodes of the machine. Senders have a port of their own, one for each path, so that a datagram's source is an address to
/// dial.
enum MulticastSocket {
    /// Makes a socket that hears the IPv4 group, on no interface yet; see `hear`.
    static func receiver(
        _ settings: MulticastSettings, loop: any EventLoop,
        _ receive: @escaping @Sendable (AddressedEnvelope<ByteBuffer>) -> Void
    ) async throws -> any Channel {
        let address = try SocketAddress(ipAddress: settings.group, port: settings.port)
        return try await open(loop, at: address) { channel in
            // Without this it would also hear datagrams that come in by interfaces on which other processes have joined.
            try channel.syncOptions?.setOption(
                ChannelOptions.Types.SocketOption(level: .ip, name: .multicastAll), value: 0)
            try prepare(channel, receive)
        }
    }

    /// Makes a socket that hears the IPv6 group on one interface.
    static func receiver6(
        _ group: String, port: Int, on path: BeaconPath, loop: any EventLoop,
        _ receive: @escaping @Sendable (AddressedEnvelope<ByteBuffer>) -> Void
    ) async throws -> any Channel {
        let channel = try await open(loop, at: try scoped(group, port: port, path)) { channel in
            try channel.syncOptions?.setOption(
                ChannelOptions.Types.SocketOption(level: .ipv6, name: .multicastAll6), value: 0)
            try prepare(channel, receive)
        }
        do {
            try await hear(group, on: path, channel)
        } catch {
            try? await channel.close().get()
            throw error
        }
        return channel
    }

    private static func prepare(
        _ receiver: any Channel, _ receive: @escaping @Sendable (AddressedEnvelope<ByteBuffer>) -> Void
    ) throws {
        try receiver.syncOptions?.setOption(.socketOption(.so_reuseaddr), value: 1)
        // There is room to see that a datagram is longer than a beacon can be.
        try receiver.syncOptions?.setOption(
            .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2 * Beacon.sizeLimit))
        try receiver.pipeline.syncOperations.addHandler(DatagramReceiver(receive: receive))
    }

    /// Makes a socket, prepares it and binds it. NIO leaves it open where the system refuses the address or an option, as for an
    /// address that the kernel still asks the network about (RFC 4862, 5.4); here it is closed then.
    private static func open(
        _ loop: any EventLoop, at address: SocketAddress,
        _ prepare: @escaping @Sendable (any Channel) throws -> Void = { _ in }
    ) async throws -> any Channel {
        let made = NIOLockedValueBox<(any Channel)?>(nil)
        let bootstrap = DatagramBootstrap(group: loop).channelInitializer { channel in
            made.withLockedValue { $0 = channel }
            return channel.eventLoop.makeCompletedFuture { try prepare(channel) }
        }
        do {
            return try await bootstrap.bind(to: address).get()
        } catch {
            try? await made.withLockedValue { $0 }?.close().get()
            throw error
        }
    }

    /// Joins the group on a path's interface. NIO's own way leaves out interfaces that do not claim to do multicast, and `lo` is one
    /// of them.
    static func hear(_ group: String, on path: BeaconPath, _ receiver: any Channel) async throws {
        do {
            try await change(.ipAddMembership, .ipv6JoinGroup, group, path, receiver)
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            // It is joined there already, by another address of the interface.
        }
    }

    /// Leaves the group on a path's interface, for all addresses that this has.
    static func unhear(_ group: String, on path: BeaconPath, _ receiver: any Channel) async throws {
        try await change(.ipDropMembership, .ipv6LeaveGroup, group, path, receiver)
    }

    private static func change(
        _ name4: NIOBSDSocket.Option, _ name6: NIOBSDSocket.Option, _ group: String, _ path: BeaconPath,
        _ receiver: any Channel
    ) async throws {
        guard let provider = receiver as? any SocketOptionProvider else { return }
        if let membership = IPv4Membership(group: group, path: path) {
            try await provider.unsafeSetSocketOption(level: .ip, name: name4, value: membership).get()
        } else if let membership = IPv6Membership(group: group, path: path) {
            try await provider.unsafeSetSocketOption(level: .ipv6, name: name6, value: membership).get()
        }
    }

    /// Makes a socket that sends from a path's address, out of its interface.
    static func sender(_ settings: MulticastSettings, on path: BeaconPath, loop: any EventLoop) async throws
        -> any Channel
    {
        let source = try scoped(path.address.description, port: 0, path)
        let channel = try await open(loop, at: source)
        guard let provider = channel as? any SocketOptionProvider else { return channel }
        do {
            let limit = UInt8(clamping: settings.timeToLive)
            if path.address.isIPv4 {
                // An `in_addr` is its four bytes in network order.
                let address = path.address.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
                try await provider.unsafeSetSocketOption(level: .ip, name: .ip_multicast_if, value: address).get()
                try await provider.setIPMulticastTTL(limit).get()
            } else {
                let index = CInt(truncatingIfNeeded: path.index)
                try await provider.unsafeSetSocketOption(level: .ipv6, name: .ipv6MulticastIF, value: index).get()
                let hops = CInt(limit)
                try await provider.unsafeSetSocketOption(level: .ipv6, name: .ipv6MulticastHops, value: hops).get()
            }
        } catch {
            try? await channel.close().get()
            throw error
        }
        return channel
    }

    /// An address of the path's family; over IPv6 within the scope of its interface.
    static func scoped(_ ip: String, port: Int, _ path: BeaconPath) throws -> SocketAddress {
        try SocketAddress(ipAddress: ip, port: port).scoped(to: UInt32(truncatingIfNeeded: path.index))
    }
}

/// `ip_mreqn`: a group in network order, and the number of the interface to hear it on. An address instead of the number would name the
/// interface only as long as the interface has it.
private struct IPv4Membership {
    var group: UInt32
    var address: UInt32 = 0
    var index: CInt

    init?(group: String, path: BeaconPath) {
        guard let group = IPv4.bytes(of: group), path.address.isIPv4 else { return nil }
        self.group = group.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        index = CInt(truncatingIfNeeded: path.index)
    }
}

/// `ipv6_mreq`: a group in network order and the interface's number.
private struct IPv6Membership {
    var group: (UInt64, UInt64)
    var index: UInt32

    init?(group: String, path: BeaconPath) {
        guard let group = IPAddress(group), !group.isIPv4 else { return nil }
        self.group = group.bytes.withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64).self) }
        index = UInt32(truncatingIfNeeded: path.index)
    }
}

extension NIOBSDSocket.Option {
    // The numbers are from <linux/in.h> and <linux/in6.h>. NIO has no names for them, or takes them for its own way of joining.
    fileprivate static let ipAddMembership = NIOBSDSocket.Option(rawValue: IP_ADD_MEMBERSHIP)
    fileprivate static let ipDropMembership = NIOBSDSocket.Option(rawValue: IP_DROP_MEMBERSHIP)
    fileprivate static let multicastAll = NIOBSDSocket.Option(rawValue: IP_MULTICAST_ALL)
    fileprivate static let ipv6MulticastIF = NIOBSDSocket.Option(rawValue: IPV6_MULTICAST_IF)
    fileprivate static let ipv6MulticastHops = NIOBSDSocket.Option(rawValue: IPV6_MULTICAST_HOPS)
    fileprivate static let ipv6JoinGroup = NIOBSDSocket.Option(rawValue: IPV6_JOIN_GROUP)
    fileprivate static let ipv6LeaveGroup = NIOBSDSocket.Option(rawValue: IPV6_LEAVE_GROUP)
    fileprivate static let multicastAll6 = NIOBSDSocket.Option(rawValue: IPV6_MULTICAST_ALL)
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

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An interface may have gone away, for example. The next datagram may be fine, and a datagram socket has no connection to
        // end.
    }
}
