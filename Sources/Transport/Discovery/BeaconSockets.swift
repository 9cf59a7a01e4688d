import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The sockets for a set of paths, opened and closed as the set changes.
final class BeaconSockets: Sendable {
    private struct Open {
        var sender: any Channel
        /// The receiver of an IPv6 path; over IPv4 one receiver serves all paths.
        var receiver: (any Channel)?
    }

    private struct State {
        var receiver: (any Channel)?
        var open: [BeaconPath: Open] = [:]
        var isClosed = false
    }

    private let settings: MulticastSettings
    private let loop: any EventLoop
    private let receive: @Sendable (AddressedEnvelope<ByteBuffer>) -> Void
    private let state = NIOLockedValueBox(State())

    init(
        _ settings: MulticastSettings, loop: any EventLoop,
        receive: @escaping @Sendable (AddressedEnvelope<ByteBuffer>) -> Void
    ) {
        self.settings = settings
        self.loop = loop
        self.receive = receive
    }

    /// The paths that are in use.
    var paths: Set<BeaconPath> { Set(state.withLockedValue { $0.open.keys }) }

    /// Binds the groups' port.
    ///
    /// - Throws: an error of the system.
    func bind() async throws {
        let receiver = try await MulticastSocket.receiver(settings, loop: loop, receive)
        let isClosed = state.withLockedValue { state in
            if !state.isClosed { state.receiver = receiver }
            return state.isClosed
        }
        if isClosed { try? await receiver.close().get() }
    }

    /// Opens a path.
    ///
    /// - Throws: an error of the system, as where the interface is going down.
    func open(_ path: BeaconPath) async throws {
        guard path.address.isIPv4 || settings.group6 != nil else { return }
        let sender = try await MulticastSocket.sender(settings, on: path, loop: loop)
        var open = Open(sender: sender)
        do {
            if let group6 = settings.group6, !path.address.isIPv4 {
                open.receiver = try await MulticastSocket.receiver6(
                    group6, port: settings.port, on: path, loop: loop, receive)
            } else if let receiver = state.withLockedValue({ $0.receiver }) {
                try await MulticastSocket.hear(settings.group, on: path, receiver)
            }
        } catch {
            try? await sender.close().get()
            throw error
        }
        let opened = open
        let isClosed = state.withLockedValue { state in
            if !state.isClosed { state.open[path] = opened }
            return state.isClosed
        }
        if isClosed { await BeaconSockets.close(opened) }
    }

    /// Closes a path.
    ///
    /// - Parameter sender: where it is given, the path is closed only if this is still the channel that sends.
    func close(_ path: BeaconPath, sentBy sender: (any Channel)? = nil) async {
        let (open, receiver) = state.withLockedValue { state in
            if let sender, state.open[path]?.sender !== sender { return (Open?.none, (any Channel)?.none) }
            let open = state.open.removeValue(forKey: path)
            // The membership is the interface's, and ends with the last of its addresses.
            let isHeard = state.open.keys.contains { $0.address.isIPv4 && $0.index == path.index }
            return (open, isHeard ? nil : state.receiver)
        }
        if path.address.isIPv4, let receiver {
            // This fails where the kernel has dropped the membership together with the interface.
            try? await MulticastSocket.unhear(settings.group, on: path, receiver)
        }
        if let open { await BeaconSockets.close(open) }
    }

    func close() async {
        let (receiver, open) = state.withLockedValue { state in
            state.isClosed = true
            defer { state.open = [:] }
            return (state.receiver, Array(state.open.values))
        }
        try? await receiver?.close().get()
        for open in open { await BeaconSockets.close(open) }
    }

    private static func close(_ open: Open) async {
        try? await open.sender.close().get()
        try? await open.receiver?.close().get()
    }

    /// Leaves the groups and joins them again, which makes the kernel report the membership. A switch that watches
    /// memberships (IGMP or MLD snooping) where no router asks for them forgets them after some minutes.
    func rejoin() async {
        let (shared, open) = state.withLockedValue { ($0.receiver, $0.open) }
        for (path, open) in open {
            guard let receiver = open.receiver ?? shared else { continue }
            let group = path.address.isIPv4 ? settings.group : settings.group6 ?? ""
            try? await MulticastSocket.unhear(group, on: path, receiver)
            try? await MulticastSocket.hear(group, on: path, receiver)
        }
    }

    /// Sends on every path. A failed beacon is one lost datagram; the next is seconds away. But NIO closes a socket that could not
    /// send, as while a firewall forbids it, so the path is closed with it. The next look at the interfaces opens it again.
    ///
    /// - Parameters:
    ///   - datagram: what to send on a path.
    ///   - failed: called for a path that does not take its datagram.
    func send(
        _ datagram: (BeaconPath) -> ByteBuffer, failed: (@Sendable (BeaconPath, any Error) -> Void)? = nil
    ) {
        for (path, open) in state.withLockedValue({ $0.open }) {
            let group = path.address.isIPv4 ? settings.group : settings.group6 ?? ""
            guard let address = try? MulticastSocket.scoped(group, port: settings.port, path) else { continue }
            let envelope = AddressedEnvelope(remoteAddress: address, data: datagram(path))
            open.sender.writeAndFlush(envelope).whenFailure { [loop] error in
                failed?(path, error)
                // The task holds this object for as long as the closing takes.
                _ = loop.makeFutureWithTask { await self.close(path, sentBy: open.sender) }
            }
        }
    }
}
