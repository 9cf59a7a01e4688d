import Base
import Cryptography
package import NIOCore

/// Seals this cluster's beacons and opens those of others.
///
/// Without a key everybody can seal, and the tag shows damage and nothing more. The same is true with certificates of an own PKI,
/// where there is no common secret either. `UnsealedBeacons` bounds the effects of such beacons.
package struct BeaconSeal: Sendable {
    /// The mark that this cluster's beacons carry.
    package let cluster: ClusterMark
    /// Whether nobody else can seal.
    var isSecret: Bool { cluster.key != 0 }
    private let key: Secret
    /// Other keys whose beacons count too, by their number.
    private let others: [UInt64: Secret]

    package init(cluster: String, security: TransportSecurity) {
        let name = StableHash.of(cluster)
        if case .clusterKey(let clusterKey, let accepted) = security {
            key = clusterKey.beaconKey
            others = Dictionary(accepted.map { ($0.beaconKeyID, $0.beaconKey) }) { one, _ in one }
            self.cluster = ClusterMark(name: name, key: clusterKey.beaconKeyID)
        } else {
            key = Secret(SHA256.digest(of: Array("skynet beacon without a key".utf8)))
            self.cluster = ClusterMark(name: name, key: 0)
            others = [:]
        }
    }

    /// A datagram of this beacon.
    package func seal(_ beacon: Beacon) -> ByteBuffer {
        var bytes = beacon.encoded()
        bytes.writeBytes(bytes.withUnsafeReadableBytes { key.authenticationCode(for: $0) })
        return bytes
    }

    /// A datagram by which a sender that is not a node asks which nodes are there.
    func question(from node: NodeID, sequence: UInt64) -> ByteBuffer {
        seal(
            Beacon(
                .solicit, cluster: cluster, node: node, sequence: sequence, sent: WallClock.milliseconds,
                validity: Beacon.standardValidity, port: 0, name: "?"))
    }

    /// Reads a datagram. The checks that cost least come first, because anybody may send to the group.
    ///
    /// - Throws: the fault of the datagram.
    package func open(_ datagram: ByteBuffer) throws(BeaconFault) -> Beacon {
        guard datagram.readableBytes <= Beacon.sizeLimit else { throw .oversized }
        var body = datagram
        guard let head = body.getBytes(at: body.readerIndex, length: 5), Array(head.prefix(4)) == Beacon.magic
        else { throw .malformed }
        guard head[4] == Beacon.version else { throw .otherVersion(head[4]) }
        // The mark is behind magic, version and kind.
        guard
            let (name, key) = body.getMultipleIntegers(at: body.readerIndex + 6, as: (UInt64, UInt64).self),
            let content = body.readSlice(length: max(0, body.readableBytes - Beacon.tagLength)),
            body.readableBytes == Beacon.tagLength
        else { throw .malformed }
        let mark = ClusterMark(name: name, key: key)
        guard name == cluster.name, let opener = key == cluster.key ? self.key : others[key] else {
            throw .foreign(mark)
        }
        let isAuthentic = content.withUnsafeReadableBytes { content in
            body.withUnsafeReadableBytes { tag in opener.isAuthentic(tag, for: content) }
        }
        guard isAuthentic else { throw .forged }
        return try Beacon(content)
    }
}
