import CLinux
import Dispatch
import Glibc

/// Reports that interfaces or addresses of this machine have come or gone. The kernel tells its listeners (rtnetlink(7)), so
/// nothing has to wake up to ask.
final class InterfaceWatch: Sendable {
    /// Every thread may use it (dispatch_source_create(3)), which its type does not say.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    private static let groups = UInt32(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR)

    /// The result is `nil` where the kernel does not report changes.
    ///
    /// - Parameter changed: called on some queue, once for all changes that have come together.
    init?(changed: @escaping @Sendable () -> Void) {
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(AF_NETLINK, kind, NETLINK_ROUTE)
        guard socket >= 0 else { return nil }
        var address = sockaddr_nl(
            nl_family: sa_family_t(AF_NETLINK), nl_pad: 0, nl_pid: 0, nl_groups: InterfaceWatch.groups)
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
        // The source is held by its own handler until it is cancelled.
        source.setEventHandler {
            switch InterfaceWatch.drain(socket) {
            case .nothing: break
            case .changes: changed()
            case .broken:
                // A broken socket would be reported for ever. The regular checks of the interfaces still see the changes.
                source.cancel()
                changed()
            }
        }
        source.setCancelHandler { close(socket) }
        self.source = source
        source.activate()
    }

    deinit { source.cancel() }

    /// Reads everything that has arrived. Its content does not matter. If there was more than the kernel keeps, recv fails with
    /// ENOBUFS.
    private static func drain(_ socket: Int32) -> Drained {
        var drained = Drained.nothing
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return drained }
            // This loop ends, because nobody changes interfaces as fast as it reads.
            if count <= 0, errno != ENOBUFS { return .broken }
            drained = .changes
        }
    }

    private enum Drained {
        case nothing, changes, broken
    }
}
