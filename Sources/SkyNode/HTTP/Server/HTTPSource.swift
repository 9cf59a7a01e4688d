import NIOCore
import Transport

/// The source that a connection is counted under: an IPv4 address, an IPv6 network, or this machine.
struct HTTPSource: Hashable, Sendable {
    /// Whether it is this machine. All of loopback is one source: a local process can choose any address of it.
    let isLocal: Bool
    /// The bytes of an IPv4 address, or the first eight bytes of an IPv6 address: a client that has one has its whole network (RFC
    /// 6177).
    private let network: [UInt8]

    static let local = HTTPSource(isLocal: true, network: [])

    private init(isLocal: Bool, network: [UInt8]) { (self.isLocal, self.network) = (isLocal, network) }

    /// An address that is not an IP address is that of a socket of this machine.
    init(_ address: SocketAddress?) {
        self = address.flatMap(IPAddress.init).map { HTTPSource($0) } ?? .local
    }

    init(_ ip: IPAddress) {
        var bytes = ip.bytes
        // This is an IPv4 client of a socket for both families: ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
        if bytes.count == 16, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            bytes = Array(bytes[12...])
        }
        let isLoopback = bytes.count == 4 ? bytes[0] == 127 : ip.isLoopback
        self = isLoopback ? .local : HTTPSource(isLocal: false, network: bytes.count == 4 ? bytes : Array(bytes[..<8]))
    }
}
