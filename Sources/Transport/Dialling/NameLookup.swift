import Glibc
import NIOCore

/// The addresses that a host name stands for.
enum NameLookup {
    /// How many addresses of one name are used.
    static let limit = 128

    /// Asks the system's resolver (getaddrinfo(3)): the hosts file, DNS, and all else that nsswitch.conf names. It may block for
    /// seconds.
    ///
    /// - Throws: `NameLookupError`.
    static func addresses(of name: NodeAddress) throws -> [NodeAddress] {
        guard case .hostPort(let host, let port) = name else { return [name] }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard status == 0 else { throw NameLookupError(reason: String(cString: gai_strerror(status))) }
        var addresses: [NodeAddress] = []
        var next = list
        while let entry = next, addresses.count < limit {
            next = entry.pointee.ai_next
            guard let address = entry.pointee.ai_addr.flatMap(socketAddress).flatMap({ NodeAddress($0) }),
                !addresses.contains(address)
            else { continue }
            addresses.append(address)
        }
        return addresses
    }

    private static func socketAddress(_ address: UnsafeMutablePointer<sockaddr>) -> SocketAddress? {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) }
        default: nil
        }
    }
}

/// A name has no address, or no resolver could say which.
struct NameLookupError: Error, CustomStringConvertible {
    /// The reason, in the resolver's words.
    var reason: String

    var description: String { "unknown host: \(reason)" }
}
