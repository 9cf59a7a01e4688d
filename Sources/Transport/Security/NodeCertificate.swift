import Cryptography
package import FoundationEssentials

/// The certificate that a node issues itself under the cluster key, with a private key that never leaves memory.
///
/// It is short-lived: a stolen one is of no use the next day, and there is no list of revoked ones to keep.
package struct NodeCertificate: Sendable {
    /// A certificate begins an hour before it is made, because clocks differ.
    static let clockTolerance: TimeInterval = 3600
    static let lifetime: TimeInterval = 86_400
    /// A certificate is renewed at two thirds of its lifetime: eight hours are left for trying again.
    static let renewalAge: TimeInterval = lifetime * 2 / 3
    /// The name is the same for all nodes: a server shows its certificate to everybody who connects, before it knows who that is.
    /// The node's own name is in its hello. (Earlier versions want one common name, whatever it is.)
    static let commonName = "skynode"

    package let notBefore: Date
    package let notAfter: Date
    package let renewalDue: Date
    let certificate: Certificate
    let privateKey: SigningKey

    /// - Parameters:
    ///   - node: goes into the certificate as a URI, see `PeerIdentity`.
    /// - Throws: `SecurityError` where the cluster key's own time is over or has not come yet.
    package init(issuedBy key: ClusterKey, node: NodeID, now: Date) throws(SecurityError) {
        try key.checkTime(now)
        notBefore = max(now - NodeCertificate.clockTolerance, key.certificate.notBefore)
        notAfter = min(now + NodeCertificate.lifetime, key.certificate.notAfter)
        renewalDue = now + NodeCertificate.renewalAge
        do {
            privateKey = try SigningKey()
            certificate = try CertificateRequest(
                commonNames: [NodeCertificate.commonName], notBefore: notBefore, notAfter: notAfter,
                extensions: [
                    CertificateExtension(.basicConstraints, "critical,CA:FALSE"),
                    CertificateExtension(.keyUsage, "critical,digitalSignature"),
                    // Every node both dials and is dialled.
                    CertificateExtension(.extendedKeyUsage, "serverAuth,clientAuth"),
                    CertificateExtension(.subjectAlternativeName, "URI:\(PeerIdentity.node(node).uri)"),
                    CertificateExtension(.authorityKeyIdentifier, "keyid"),
                ]
            ).issued(to: privateKey, by: (key.certificate, key.privateKey))
        } catch {
            throw SecurityError("this node's certificate could not be issued: \(error)")
        }
    }

    /// Whether a new certificate is wanted. It is wanted too where the clock was set back to before this one's beginning.
    package func isRenewalDue(at now: Date) -> Bool {
        now >= renewalDue || now < notBefore
    }
}
