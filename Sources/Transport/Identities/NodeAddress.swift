import Base
public import NIOCore

/// Where a node can be reached: a host name or literal address with a port, or a Unix socket.
///
/// It is a suggestion, never an identity: several addresses may lead to one node, and one address may lead to
/// another node tomorrow.
public enum NodeAddress: Hashable, Codable, Sendable, CustomStringConvertible {
    case hostPort(host: String, port: Int)
    case unixSocket(path: String)

    /// Reads `HOST:PORT`, with an IPv6 literal in brackets. `nil` where the text is not of that form.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65535).contains(port)
        else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.utf8.contains(UInt8(ascii: ":")) {
            return nil
        }
        guard NodeAddress.isValidHost(host) else { return nil }
        self = .hostPort(host: host, port: port)
    }

    /// Whether the text could be a host name or an address: 1 to 253 bytes (RFC 1035), no blanks or controls, and no
    /// brackets, which stand around it.
    package static func isValidHost(_ host: String) -> Bool {
        !host.isEmpty && host.utf8.count <= 253 && !host.utf8.contains(where: " []".utf8.contains)
            && PrintableText.isWhole(host)
    }

    /// Whether the address may be dialled if a peer suggests it: it must be a host and a port, never a path on this machine.
    package var isDialable: Bool {
        guard case .hostPort(let host, let port) = self else { return false }
        return NodeAddress.isValidHost(host) && (1...65535).contains(port)
    }

    /// The address of a bound or connected socket; `nil` for a socket without one.
    public init?(_ address: SocketAddress) {
        if let host = address.ipAddress, let port = address.port {
            self = .hostPort(host: NodeAddress.unmapped(host) + NodeAddress.scope(of: address), port: port)
        } else if let path = address.pathname, !path.isEmpty {
            self = .unixSocket(path: path)
        } else {
            return nil
        }
    }

    public var description: String {
        switch self {
        case .hostPort(let host, let port):
            host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): path
        }
    }

    /// Whether the host is a name that has to be looked up.
    package var isName: Bool {
        if case .hostPort(let host, _) = self { IPAddress(host) == nil } else { false }
    }

    /// Whether only this machine can reach it.
    public var isLoopback: Bool {
        switch self {
        case .hostPort(let host, _):
            // This is asked often, so most addresses are recognised by how they begin.
            host == "localhost" || host == "::1"
                || (host.hasPrefix("127.") || host.hasPrefix("::"))
                    && IPv4.bytes(of: NodeAddress.unmapped(host))?.first == 127
        case .unixSocket: true
        }
    }

    /// `%` and the interface of an IPv6 address that means nothing without it; empty for any other address.
    private static func scope(of address: SocketAddress) -> String {
        address.scope != 0 && IPAddress(address)?.isLinkLocal == true ? "%\(address.scope)" : ""
    }

    /// Whether the address is valid on one interface of this machine only.
    package var isScoped: Bool {
        guard case .hostPort(let host, _) = self else { return false }
        return host.contains("%") || IPAddress(host).map { !$0.isIPv4 && $0.isLinkLocal } == true
    }

    /// Whether the address stands for every address of the machine. A node can listen on such an address, but nobody can dial it.
    public var isWildcard: Bool {
        switch self {
        case .hostPort(let host, _): host == "0.0.0.0" || host == "::"
        case .unixSocket: false
        }
    }

    /// Removes `::ffff:`. An IPv4 address from a socket for both families has the form `::ffff:a.b.c.d` (RFC 4291, 2.5.5.2).
    private static func unmapped(_ host: String) -> String {
        let prefix = "::ffff:"
        return host.lowercased().hasPrefix(prefix) ? String(host.dropFirst(prefix.count)) : host
    }

    /// The same host with another port.
    public func with(port: Int) -> NodeAddress {
        switch self {
        case .hostPort(let host, _): .hostPort(host: host, port: port)
        case .unixSocket: self
        }
    }
}
