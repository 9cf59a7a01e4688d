package import NIOCore

/// One datagram by which a node says where it is. It only suggests an address: membership is the handshake.
///
///     magic     4 bytes "SKYB"
///     version   UInt8
///     kind      UInt8    1 announce, 2 solicit, 3 goodbye
///     cluster   UInt64   FNV-1a of the cluster's name
///     node      UInt64
///     validity  UInt16   seconds
///     port      UInt16   TCP; 0 for one who only asks
///     host      UInt8 length, then UTF-8; empty: the address the datagram came from
///     name      UInt8 length, then UTF-8
///
/// Integers are big-endian.
package struct Beacon: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// I am here.
        case announce = 1
        /// I am here, or only asking; who else is?
        case solicit = 2
        /// I am leaving.
        case goodbye = 3
    }

    package var kind: Kind
    package var cluster: UInt64
    package var node: NodeID
    package var validity: UInt16
    package var port: UInt16
    package var host: String
    package var name: String

    /// Largest beacon. It must never be cut into fragments, on any network.
    package static let sizeLimit = 512
    static let magic: [UInt8] = [0x53, 0x4B, 0x59, 0x42]  // "SKYB"
    static let version: UInt8 = 1

    package init(
        _ kind: Kind, cluster: String, node: NodeID, validity: UInt16, port: UInt16, host: String, name: String
    ) {
        self.kind = kind
        self.cluster = Beacon.clusterID(cluster)
        self.node = node
        self.validity = validity
        self.port = port
        self.host = host
        self.name = name
    }

    /// FNV-1a, 64 bit (Fowler, Noll, Vo; RFC 9923): short, and the same on every machine, which `Hasher` is not.
    package static func clusterID(_ name: String) -> UInt64 {
        name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer(bytes: Beacon.magic)
        buffer.writeInteger(Beacon.version)
        buffer.writeInteger(kind.rawValue)
        buffer.writeInteger(cluster)
        buffer.writeInteger(node.rawValue)
        buffer.writeInteger(validity)
        buffer.writeInteger(port)
        for text in [host, name] {
            let bytes = text.utf8.prefix(Int(UInt8.max))
            buffer.writeInteger(UInt8(truncatingIfNeeded: bytes.count))
            buffer.writeBytes(bytes)
        }
        return buffer
    }

    /// `nil` for everything that is not a well-formed beacon of this version.
    package init?(_ datagram: ByteBuffer) {
        var bytes = datagram
        guard bytes.readableBytes <= Beacon.sizeLimit, bytes.readBytes(length: 4) == Beacon.magic,
            bytes.readInteger(as: UInt8.self) == Beacon.version,
            let kind = bytes.readInteger(as: UInt8.self).flatMap(Kind.init(rawValue:)),
            let cluster = bytes.readInteger(as: UInt64.self), let node = bytes.readInteger(as: UInt64.self),
            let validity = bytes.readInteger(as: UInt16.self), let port = bytes.readInteger(as: UInt16.self),
            let host = Beacon.readString(&bytes), let name = Beacon.readString(&bytes), bytes.readableBytes == 0,
            Hello.isValidName(name), host.isEmpty || NodeAddress.isValidHost(host)
        else { return nil }
        self.kind = kind
        self.cluster = cluster
        self.node = NodeID(rawValue: node)
        self.validity = validity
        self.port = port
        self.host = host
        self.name = name
    }

    private static func readString(_ buffer: inout ByteBuffer) -> String? {
        guard let length = buffer.readInteger(as: UInt8.self) else { return nil }
        return try? buffer.readUTF8ValidatedString(length: Int(length))
    }

    /// Where the sender can be reached, given where the datagram came from; `nil` for one who only asks.
    package func address(from source: SocketAddress) -> NodeAddress? {
        guard port > 0 else { return nil }
        if !host.isEmpty { return .hostPort(host: host, port: Int(port)) }
        return source.ipAddress.map { .hostPort(host: $0, port: Int(port)) }
    }
}
