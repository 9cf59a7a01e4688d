import Cryptography
import NIOSSL

/// Who a peer is by its certificate, which the TLS handshake has verified.
package struct PeerIdentity: Hashable, Sendable {
    package let node: NodeID

    /// The longest certificate that is examined, in bytes. A node's own has about 600 bytes; those of other authorities a few KiB.
    static let certificateLimit = 16 * 1024
    /// The prefix of the node id in the certificate's subject alternative name.
    static let uriPrefix = "urn:skynet:node:"

    package init(node: NodeID) {
        self.node = node
    }

    /// The node id as it stands in the certificate: sixteen hexadecimal digits after the prefix.
    var uri: String { PeerIdentity.uriPrefix + node.description }

    /// The result is `nil` for a certificate that names no node, as with certificates of another PKI.
    init?(_ certificate: NIOSSLCertificate) {
        guard let bytes = try? certificate.toDERBytes() else { return nil }
        self.init(der: bytes)
    }

    /// The result is `nil` for everything that is not a certificate with exactly one node id.
    init?(der bytes: [UInt8]) {
        guard bytes.count <= PeerIdentity.certificateLimit, let certificate = try? Certificate(der: bytes)
        else { return nil }
        let nodes = certificate.uris.compactMap(PeerIdentity.node)
        guard nodes.count == 1 else { return nil }
        self.init(node: nodes[0])
    }

    private static func node(in uri: String) -> NodeID? {
        guard uri.hasPrefix(uriPrefix), uri.utf8.count == uriPrefix.utf8.count + 16,
            let number = UInt64(uri.dropFirst(uriPrefix.count), radix: 16)
        else { return nil }
        let node = NodeID(rawValue: number)
        // Only one spelling is accepted: no capitals and no sign.
        return PeerIdentity(node: node).uri == uri ? node : nil
    }

    /// What is wrong with a hello that says `node` on a connection with this identity; `nil` where nothing is.
    package func objection(to node: NodeID) -> String? {
        node == self.node ? nil : "its hello says node \(node), its certificate node \(self.node)"
    }
}

/// The user event that tells the handlers of a connection who the peer is, before the connection becomes active for them.
package struct AuthenticatedPeer: Sendable {
    /// `nil` where the certificate names no node, as with certificates of an own PKI.
    package let identity: PeerIdentity?
}
