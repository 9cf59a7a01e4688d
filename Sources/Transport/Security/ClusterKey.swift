import Base
package import Cryptography
public import FoundationEssentials

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
    package let privateKey: SigningKey

    /// How long a new key is good for. It is long, because changing it means visiting every machine; the certificates that nodes
    /// show each other live a day.
    static let lifetime: TimeInterval = 10 * 365 * 86_400
    /// The certificate is valid since a day before it was made: the clocks of other machines differ.
    static let clockTolerance: TimeInterval = 86_400

    init(certificate: Certificate, privateKey: SigningKey) {
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// A new key, unlike any other.
    public static func make(now: Date) throws(SecurityError) -> ClusterKey {
        do {
            let privateKey = try SigningKey()
            return ClusterKey(certificate: try authority(privateKey, now: now), privateKey: privateKey)
        } catch {
            throw SecurityError("a cluster key could not be made: \(error)")
        }
    }

    private static func authority(_ privateKey: SigningKey, now: Date) throws(CryptographyError) -> Certificate {
        // The name differs from key to key, so that a certificate of another cluster is recognised by its issuer already.
        let digits = HexText.of(SHA256.digest(of: privateKey.publicKey).prefix(4))
        return try CertificateRequest(
            commonNames: ["SkyNet cluster \(digits)"], notBefore: now - clockTolerance, notAfter: now + lifetime,
            extensions: [
                // Certificates are issued to nodes directly; an authority below this one is not accepted.
                CertificateExtension(.basicConstraints, "critical,CA:TRUE,pathlen:0"),
                CertificateExtension(.keyUsage, "critical,keyCertSign"),
                CertificateExtension(.subjectKeyIdentifier, "hash"),
            ]
        ).issued(to: privateKey)
    }

    /// When the key was made, by the clock of the machine where that was done.
    var made: Date { certificate.notBefore + ClusterKey.clockTolerance }

    /// When the key ends. Nodes issue themselves no certificate that ends later.
    public var validUntil: Date { certificate.notAfter }

    /// SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` writes it. It is not secret: it serves to compare two
    /// machines.
    public var fingerprint: String { certificate.fingerprint }

    /// A secret that all who have the file share, for authenticating beacons. It does not give the private key away.
    package var beaconKey: Secret { privateKey.scalar.derived("skynet beacon 1", length: 32) }

    /// Tells beacons under this key from those under another key. It is not secret, and never 0.
    package var beaconKeyID: UInt64 { number("skynet beacon id 1") }

    /// A number that follows from the key and does not give it away, and is never 0.
    private func number(_ label: String) -> UInt64 {
        privateKey.scalar.derived(label, length: 8).withUnsafeBytes { bytes in
            max(1, bytes.reduce(0) { $0 << 8 | UInt64($1) })
        }
    }
}

extension ClusterKey {
    /// With what persons ask for nodes. Nodes have it by the cluster key, persons by their credentials.
    var questionKey: QuestionKey {
        QuestionKey(
            key: privateKey.scalar.derived("skynet question 1", length: 32), number: number("skynet question id 1"),
            beacons: beaconKeyID)
    }

    /// - Throws: `SecurityError` where the key's time is over or has not come yet.
    func checkTime(_ now: Date) throws(SecurityError) {
        try certificate.checkTime(
            now, of: "the cluster key", else: "make a new one with: skynode key new > cluster.key")
    }
}

extension Certificate {
    /// - Parameters:
    ///   - name: what it is the certificate of.
    ///   - advice: what to do where its time is over.
    /// - Throws: `SecurityError` where its time is over or has not come yet.
    func checkTime(_ now: Date, of name: String, else advice: String) throws(SecurityError) {
        guard now < notAfter else {
            throw SecurityError(
                "\(name) expired on \(DayText.of(notAfter)) (or this machine's clock is wrong); \(advice)")
        }
        guard now >= notBefore else {
            throw SecurityError(
                "\(name) is valid from \(DayText.of(notBefore)) only, and this machine's clock says "
                    + "\(DayText.of(now)); set the clock")
        }
    }

    /// SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` writes it.
    var fingerprint: String {
        SHA256.digest(of: der).map { HexText.of($0).uppercased() }.joined(separator: ":")
    }
}

extension ClusterKey: Equatable, CustomStringConvertible {
    public static func == (left: ClusterKey, right: ClusterKey) -> Bool {
        left.certificate == right.certificate
    }

    /// This shows nothing secret, because settings are logged.
    public var description: String { "cluster key \(fingerprint)" }
}
