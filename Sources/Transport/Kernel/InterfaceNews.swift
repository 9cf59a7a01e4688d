import CLinux
import Dispatch
import Glibc

/// Tells when interfaces or addresses of this machine have come or gone, as the kernel tells who listens (rtnetlink(7)):
/// nothing has to wake up to ask.
final class InterfaceNews: Sendable {
    /// Every thread may use it (dispatch_source_create(3)), which its type does not say.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    private static let groups = UInt32(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR)

    /// `nil` where the kernel does not tell.
    ///
    /// - Parameter changed: called on some queue, once for what has come together.
    init?(changed: @escaping @Sendable () -> Void) {
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(AF_NETLINK, kind, NETLINK_ROUTE)
        guard socket >= 0 else { return nil }
        var address = sockaddr_nl(
            nl_family: sa_family_t(AF_NETLINK), nl_pad: 0, nl_pid: 0, nl_groups: InterfaceNews.groups)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_nl>.size)) == 0
            }
        }
        guard isBound else {
            close(socket)
            return nil
        }
        nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: socket)
        // Held by its own handler until it is cancelled.
        source.setEventHandler {
            switch InterfaceNews.drain(socket) {
            case .nothing: break
            case .news: changed()
            case .broken:
                // It would be told of for ever; what changes is seen by the looks that come in any case.
                source.cancel()
                changed()
            }
        }
        source.setCancelHandler { close(socket) }
        self.source = source
        source.activate()
    }

    deinit { source.cancel() }

    /// Takes everything out that has come; what it says does not matter. Where there was more than the kernel keeps, recv
    /// fails with ENOBUFS.
    private static func drain(_ socket: Int32) -> Drained {
        var drained = Drained.nothing
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return drained }
            // Nobody changes interfaces as fast as this reads.
            if count <= 0, errno != ENOBUFS { return .broken }
            drained = .news
        }
    }

    private enum Drained {
        case nothing, news, broken
    }
}
