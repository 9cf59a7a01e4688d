package import NIOCore

/// One datagram by which a node says where it is. It only suggests addresses: membership is the handshake.
///
///     magic      4 bytes "SKYB"
///     version    UInt8    2
///     kind       UInt8    1 announce, 2 solicit, 3 goodbye
///     cluster    UInt64   FNV-1a of the cluster's name
///     key        UInt64   which key seals it; 0 where there is none
///     node       UInt64
///     sequence   UInt64   one more for every datagram of this node
///     sent       UInt64   milliseconds since 1970
///     validity   UInt16   seconds
///     port       UInt16   TCP; 0 for one who only asks
///     host       UInt8 length, then UTF-8; empty where `places` tells
///     name       UInt8 length, then UTF-8
///     places     UInt8 count, then each: UInt8 length 0, 4 or 16, then the address
///     tag        32 bytes HMAC-SHA256 of all before it; see `BeaconSeal`
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

    /// One address to try.
    package enum Place: Hashable, Sendable {
        /// The one that the datagram came from.
        case source
        case address(IPAddress)
    }

    package var kind: Kind
    package var cluster: ClusterMark
    package var node: NodeID
    package var sequence: UInt64
    package var sent: UInt64
    package var validity: UInt16
    package var port: UInt16
    package var host: String
    package var name: String
    /// Where the node can be reached, the best first. There are at most `placeLimit`, and none beside a host.
    package var places: [Place]

    /// Largest datagram. It must never be cut into fragments, on any network.
    package static let sizeLimit = 512
    /// The most places in one beacon.
    package static let placeLimit = 8
    /// How long a beacon of this program counts, in seconds. It is more than the clocks differ that are set by hand.
    static let standardValidity: UInt16 = 30
    static let tagLength = 32
    static let magic: [UInt8] = [0x53, 0x4B, 0x59, 0x42]  // "SKYB"
    static let version: UInt8 = 2

    package init(
        _ kind: Kind, cluster: ClusterMark, node: NodeID, sequence: UInt64, sent: UInt64, validity: UInt16,
        port: UInt16, host: String = "", name: String, places: [Place] = []
    ) {
        self.kind = kind
        self.cluster = cluster
        self.node = node
        self.sequence = sequence
        self.sent = sent
        self.validity = validity
        self.port = port
        self.host = host
        self.name = name
        self.places = host.isEmpty ? Array(places.prefix(Beacon.placeLimit)) : []
    }

    /// Whether a command asks, which is no node.
    var isOfCommand: Bool { kind == .solicit && port == 0 }

    /// The datagram without its tag.
    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer(bytes: Beacon.magic)
        buffer.writeMultipleIntegers(Beacon.version, kind.rawValue)
        buffer.writeMultipleIntegers(cluster.name, cluster.key, node.rawValue, sequence, sent)
        buffer.writeMultipleIntegers(validity, port)
        for text in [host, name] { Beacon.write(text.utf8.prefix(Int(UInt8.max)), into: &buffer) }
        buffer.writeInteger(UInt8(clamping: places.count))
        for place in places {
            switch place {
            case .source: Beacon.write([], into: &buffer)
            case .address(let address): Beacon.write(address.bytes, into: &buffer)
            }
        }
        return buffer
    }

    private static func write(_ field: some Collection<UInt8>, into buffer: inout ByteBuffer) {
        buffer.writeInteger(UInt8(truncatingIfNeeded: field.count))
        buffer.writeBytes(field)
    }

    /// Reads what stands before the tag.
    ///
    /// - Throws: `malformed` for everything that is not exactly of this form.
    package init(_ body: ByteBuffer) throws(BeaconFault) {
        var bytes = body
        guard bytes.readBytes(length: 4) == Beacon.magic, bytes.readInteger(as: UInt8.self) == Beacon.version,
            let kind = bytes.readInteger(as: UInt8.self).flatMap(Kind.init(rawValue:)),
            let (cluster, key, node, sequence, sent) = bytes.readMultipleIntegers(
                as: (UInt64, UInt64, UInt64, UInt64, UInt64).self),
            let (validity, port) = bytes.readMultipleIntegers(as: (UInt16, UInt16).self),
            let host = Beacon.readText(&bytes), let name = Beacon.readText(&bytes),
            let places = Beacon.readPlaces(&bytes), bytes.readableBytes == 0,
            Hello.isValidName(name), host.isEmpty || NodeAddress.isValidHost(host), host.isEmpty || places.isEmpty
        else { throw .malformed }
        self.kind = kind
        self.cluster = ClusterMark(name: cluster, key: key)
        self.node = NodeID(rawValue: node)
        self.sequence = sequence
        self.sent = sent
        self.validity = validity
        self.port = port
        self.host = host
        self.name = name
        self.places = places
    }

    private static func readText(_ buffer: inout ByteBuffer) -> String? {
        guard let length = buffer.readInteger(as: UInt8.self) else { return nil }
        return try? buffer.readUTF8ValidatedString(length: Int(length))
    }

    private static func readPlaces(_ buffer: inout ByteBuffer) -> [Place]? {
        guard let count = buffer.readInteger(as: UInt8.self), count <= placeLimit else { return nil }
        var places: [Place] = []
        for _ in 0..<count {
            guard let length = buffer.readInteger(as: UInt8.self), let bytes = buffer.readBytes(length: Int(length))
            else { return nil }
            if length == 0 {
                places.append(.source)
            } else if let address = IPAddress(bytes: bytes) {
                places.append(.address(address))
            } else {
                return nil
            }
        }
        return places
    }

    /// Where the sender can be reached, the best first, given where the datagram came from; empty for a sender that only asks.
    package func addresses(from source: SocketAddress) -> [NodeAddress] {
        guard port > 0 else { return [] }
        if !host.isEmpty { return [.hostPort(host: host, port: Int(port))] }
        var addresses: [NodeAddress] = []
        for place in places {
            let address: NodeAddress?
            switch place {
            case .source: address = NodeAddress(source)?.with(port: Int(port))
            case .address(let ip):
                // Another machine's loopback is not ours, and its link-local addresses lack the interface.
                address = ip.isRoutable ? .hostPort(host: ip.description, port: Int(port)) : nil
            }
            if let address, address.isDialable, !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }
}

/// Which cluster a beacon belongs to: its name, and which key seals it. Neither is secret.
package struct ClusterMark: Hashable, Sendable {
    package var name: UInt64
    /// 0 where there is no key.
    package var key: UInt64

    package init(name: UInt64, key: UInt64) {
        self.name = name
        self.key = key
    }
}
