import Glibc
import NIOConcurrencyHelpers

/// Whether interfaces or addresses of this machine have come or gone, as the kernel tells who listens (rtnetlink(7)). Listing
/// them all takes some sixty system calls; this takes one.
final class InterfaceNews: Sendable {
    private let socket: Int32
    /// Looks until the next one that is taken in any case.
    private let looks = NIOLockedValueBox(0)

    /// Once in so many looks there is news whatever the kernel says.
    static let longestQuiet = 30

    /// linux/netlink.h and linux/rtnetlink.h, which Swift does not import.
    private static let family: UInt16 = 16
    private static let groups: UInt32 = 0x1 | 0x10 | 0x100  // RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR

    private struct Address {
        var family = InterfaceNews.family
        var padding: UInt16 = 0
        var port: UInt32 = 0
        var groups = InterfaceNews.groups
    }

    /// `nil` where the kernel does not tell.
    init?() {
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        socket = Glibc.socket(Int32(InterfaceNews.family), kind, 0)
        guard socket >= 0 else { return nil }
        var address = Address()
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<Address>.size)) == 0
            }
        }
        guard isBound else {
            close(socket)
            return nil
        }
    }

    deinit { close(socket) }

    /// Whether anything may have changed since the last call.
    func hasCome() -> Bool {
        let isDue = looks.withLockedValue { looks in
            looks = (looks + 1) % InterfaceNews.longestQuiet
            return looks == 0
        }
        return drain() || isDue
    }

    /// Takes everything out that has come; what it says does not matter. Where there was more than the kernel keeps, recv
    /// fails with ENOBUFS.
    private func drain() -> Bool {
        var hasNews = false
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return hasNews }
            hasNews = true
            // Nobody changes interfaces as fast as this reads; a socket that fails for ever is looked at in the next second.
            if count <= 0, errno != ENOBUFS { return true }
        }
    }
}
