import Cryptography
package import FoundationEssentials
import NIOSSL

/// Who a peer is by its certificate, which the TLS handshake has verified.
package enum PeerIdentity: Hashable, Sendable {
    /// A node, or a command of somebody who has the cluster key.
    case node(NodeID)
    /// A command of a person.
    case person(PersonalCertificate)

    /// The longest certificate that is examined, in bytes. A node's own has about 600 bytes; those of other authorities a few KiB.
    static let certificateLimit = 16 * 1024
    /// What the names of nodes begin with in a certificate's subject alternative names.
    private static let nodePrefix = "urn:skynet:node:"

    /// The name as it stands in the certificate: for a node, sixteen hexadecimal digits after the prefix.
    var uri: String {
        switch self {
        case .node(let node): PeerIdentity.nodePrefix + node.description
        case .person(let certificate): certificate.person.uri
        }
    }

    /// The result is `nil` for a certificate that names nobody, as with certificates of another PKI.
    init?(_ certificate: NIOSSLCertificate) {
        guard let bytes = try? certificate.toDERBytes() else { return nil }
        self.init(der: bytes)
    }

    /// The result is `nil` for everything that is not a certificate of exactly one node or person.
    init?(der bytes: [UInt8]) {
        guard bytes.count <= PeerIdentity.certificateLimit, let certificate = try? Certificate(der: bytes)
        else { return nil }
        let uris = certificate.uris
        guard let limits = PersonalLimits(uris: uris) else { return nil }
        let nodes = uris.compactMap(PeerIdentity.node)
        let persons = uris.compactMap { Person(uri: $0, limits: limits) }
        switch (nodes.count, persons.count) {
        case (1, 0) where limits.isEmpty: self = .node(nodes[0])
        case (0, 1): self = .person(PersonalCertificate(persons[0], certificate))
        default: return nil
        }
    }

    private static func node(in uri: String) -> NodeID? {
        guard uri.hasPrefix(nodePrefix), uri.utf8.count == nodePrefix.utf8.count + 16,
            let number = UInt64(uri.dropFirst(nodePrefix.count), radix: 16)
        else { return nil }
        let node = NodeID(rawValue: number)
        // Only one spelling is accepted: no capitals and no sign.
        return PeerIdentity.node(node).uri == uri ? node : nil
    }

    /// What is wrong with a hello on a connection with this identity; `nil` where nothing is.
    package func objection(to hello: Hello) -> Refusal? {
        switch self {
        case .node(let node):
            guard hello.node != node else { return nil }
            return Refusal(.identity, "its hello says node \(hello.node), its certificate node \(node)")
        case .person(let certificate):
            guard hello.role == .client else {
                return Refusal(
                    .role,
                    "the credential of \(certificate.person) is for commands; a node needs the cluster key itself")
            }
            guard certificate.mayBe(hello.node) else {
                return Refusal(.identity, "its hello says node \(hello.node), which its certificate does not allow")
            }
            return nil
        }
    }
}

/// What the certificate of a person says.
package struct PersonalCertificate: Hashable, Sendable {
    package let person: Person
    /// When it was issued. A revocation counts for what was issued before it.
    package let issued: Date
    /// A number that another certificate has only by a chance of one in four milliards.
    private let mark: UInt32

    init(_ person: Person, _ certificate: Certificate) {
        self.person = person
        issued = certificate.notBefore + Credential.clockTolerance
        mark = SHA256.digest(of: certificate.der).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// An id for a command. Its upper half follows from the certificate, so that nobody with a credential can pass for a node, or for
    /// another person's command, by what its hello says.
    func nodeID() -> NodeID { NodeID(rawValue: UInt64(mark) << 32 | UInt64(UInt32.random(in: 0 ... .max))) }

    func mayBe(_ node: NodeID) -> Bool { UInt32(node.rawValue >> 32) == mark }
}

extension Person {
    private static let prefix = "urn:skynet:"

    /// The person as a name in a certificate.
    var uri: String { "\(Person.prefix)\(roleName):\(name)" }

    /// The result is `nil` for every text that is not exactly a person's, and for a person who may not have these limits.
    init?(uri: String, limits: PersonalLimits) {
        let parts = uri.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, uri.hasPrefix(Person.prefix) else { return nil }
        let role: CallerRole
        switch parts[2] {
        case "user": role = .user
        case "operator": role = .operator
        default: return nil
        }
        self.init(name: String(parts[3]), role: role, limits: limits)
    }
}

/// The user event that tells the handlers of a connection who the peer is, before the connection becomes active for them.
package struct AuthenticatedPeer: Sendable {
    /// `nil` where the certificate names nobody, as with certificates of an own PKI.
    package let identity: PeerIdentity?
}
