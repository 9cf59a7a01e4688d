import Base
package import Crypto
public import FoundationEssentials
package import X509

/// The secret that makes nodes one cluster: a certificate authority of its own, in one file.
///
/// Everybody who has the file can issue certificates that every node of the cluster accepts, and so is in the cluster; nobody else
/// is. There is no list of members and nobody to ask: nodes that were given the same file trust one another.
///
///     let key = try ClusterKey.make(now: .now)
///     let same = try ClusterKey(pem: key.pem, from: "cluster.key")
public struct ClusterKey: Sendable {
    /// The authority's certificate, signed by itself. It is public.
    package let certificate: Certificate
    package let privateKey: P256.Signing.PrivateKey

    /// How long a new key is good for. It is long, because changing it means visiting every machine; the certificates that nodes
    /// show each other live a day.
    static let lifetime: TimeInterval = 10 * 365 * 86_400
    /// The certificate is valid since a day before it was made: the clocks of other machines differ.
    static let clockTolerance: TimeInterval = 86_400

    init(certificate: Certificate, privateKey: P256.Signing.PrivateKey) {
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// A new key, unlike any other.
    public static func make(now: Date) throws(SecurityError) -> ClusterKey {
        let privateKey = P256.Signing.PrivateKey()
        do {
            return ClusterKey(certificate: try authority(privateKey, now: now), privateKey: privateKey)
        } catch {
            throw SecurityError("a cluster key could not be made: \(error)")
        }
    }

    private static func authority(_ privateKey: P256.Signing.PrivateKey, now: Date) throws -> Certificate {
        let publicKey = Certificate.PublicKey(privateKey.publicKey)
        let identifier = SubjectKeyIdentifier(hash: publicKey)
        // The name differs from key to key, so that a certificate of another cluster is recognised by its issuer already.
        let digits = HexText.of(identifier.keyIdentifier.prefix(4))
        let name = try DistinguishedName { CommonName("SkyNet cluster \(digits)") }
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
            notValidBefore: now - clockTolerance, notValidAfter: now + lifetime, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                // Certificates are issued to nodes directly; an authority below this one is not accepted.
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                identifier
            },
            issuerPrivateKey: Certificate.PrivateKey(privateKey))
    }

    /// When the key ends. Nodes issue themselves no certificate that ends later.
    public var validUntil: Date { certificate.notValidAfter }

    /// SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` writes it. It is not secret: it serves to compare two
    /// machines.
    public var fingerprint: String {
        SHA256.hash(data: certificateBytes).map { HexText.of($0).uppercased() }.joined(separator: ":")
    }

    /// A secret that all who have the file share, for authenticating beacons. It does not give the private key away.
    package var beaconKey: SymmetricKey { derive("skynet beacon 1", length: 32) }

    /// Tells beacons under this key from those under another key. It is not secret, and never 0.
    package var beaconKeyID: UInt64 {
        let bytes = derive("skynet beacon id 1", length: 8).withUnsafeBytes { Array($0) }
        return max(1, bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Derives a secret by HKDF (RFC 5869); the label makes each one different.
    private func derive(_ label: String, length: Int) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: privateKey.rawRepresentation), info: Array(label.utf8),
            outputByteCount: length)
    }
}

extension ClusterKey: Equatable, CustomStringConvertible {
    public static func == (left: ClusterKey, right: ClusterKey) -> Bool {
        left.certificate == right.certificate
    }

    /// This shows nothing secret, because settings are logged.
    public var description: String { "cluster key \(fingerprint)" }
}
