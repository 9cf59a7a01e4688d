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
    /// Whether nobody else can seal what is opened here.
    let isSecret: Bool
    private let key: Secret
    /// Other keys whose beacons count too, by their number.
    private let others: [UInt64: Secret]
    /// The keys with which persons ask, by their number.
    private let questions: [UInt64: Secret]
    /// The number in the beacons of a person's cluster. Persons can only ask: they cannot tell whether an answer is true.
    private let answers: UInt64?

    package init(cluster: String, security: TransportSecurity) {
        let name = StableHash.of(cluster)
        if case .clusterKey(let clusterKey, let accepted) = security {
            key = clusterKey.beaconKey
            others = Dictionary(accepted.map { ($0.beaconKeyID, $0.beaconKey) }) { one, _ in one }
            let questioners = ([clusterKey] + accepted).map(\.questionKey)
            questions = Dictionary(questioners.map { ($0.number, $0.key) }) { one, _ in one }
            self.cluster = ClusterMark(name: name, key: clusterKey.beaconKeyID)
            (isSecret, answers) = (true, nil)
        } else if case .credential(let credential) = security {
            key = credential.questions.key
            self.cluster = ClusterMark(name: name, key: credential.questions.number)
            (others, questions) = ([:], [:])
            (isSecret, answers) = (false, credential.questions.beacons)
        } else {
            key = Secret(SHA256.digest(of: Array("skynet beacon without a key".utf8)))
            self.cluster = ClusterMark(name: name, key: 0)
            (others, questions) = ([:], [:])
            (isSecret, answers) = (false, nil)
        }
    }

    /// A datagram of this beacon.
    package func seal(_ beacon: Beacon) -> ByteBuffer {
        var bytes = beacon.encoded()
        bytes.writeBytes(bytes.withUnsafeReadableBytes { key.authenticationCode(for: $0) })
        return bytes
    }

    /// Whether a person has asked, and not somebody with the cluster key.
    func isOfPerson(_ beacon: Beacon) -> Bool { questions[beacon.cluster.key] != nil }

    /// A datagram by which a sender that is not a node asks which nodes are there.
    func question(from node: NodeID, sequence: UInt64) -> ByteBuffer {
        seal(
            Beacon(
                .solicit, cluster: cluster, node: node, sequence: sequence, sent: WallClock.milliseconds,
                validity: Beacon.standardValidity, port: 0, name: "?"))
    }

    /// What a datagram says that `open` does not take, as one of another cluster. Nobody here can tell whether it is true.
    static func unverified(_ datagram: ByteBuffer) -> Beacon? {
        guard datagram.readableBytes <= Beacon.sizeLimit,
            let content = datagram.getSlice(
                at: datagram.readerIndex, length: datagram.readableBytes - Beacon.tagLength)
        else { return nil }
        return try? Beacon(content)
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
        guard name == cluster.name else { throw .foreign(mark) }
        if key == answers { return try Beacon(content) }
        let question = questions[key]
        guard let opener = key == cluster.key ? self.key : others[key] ?? question else { throw .foreign(mark) }
        let isAuthentic = content.withUnsafeReadableBytes { content in
            body.withUnsafeReadableBytes { tag in opener.isAuthentic(tag, for: content) }
        }
        guard isAuthentic else { throw .forged }
        let beacon = try Beacon(content)
        // Who only may ask has no address to suggest and no node to speak for.
        guard question == nil || beacon.kind == .solicit && beacon.port == 0 else { throw .forged }
        return beacon
    }
}
