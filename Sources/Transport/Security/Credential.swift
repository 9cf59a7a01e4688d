import Base
package import Cryptography
public import FoundationEssentials

/// What a person has instead of the cluster key: a certificate with their name and role, issued under that key, and what a command
/// needs besides it to find and to know the cluster's nodes.
///
/// Whoever has it can do what the role allows, and nothing else: they cannot issue certificates, be a node or seal its beacons. It is
/// taken back by a `Revocation`.
///
///     let credential = try Credential.issue(to: person, by: key, validFor: 365 * 86_400, now: .now)
public struct Credential: Sendable {
    /// Whose it is.
    public let person: Person
    package let certificate: Certificate
    package let privateKey: SigningKey
    /// The cluster's authority, by which the person knows its nodes.
    package let authority: Certificate
    let questions: QuestionKey

    /// How long a credential is good for where nobody says otherwise, in seconds: a year.
    public static let standardLifetime: TimeInterval = 365 * 86_400
    /// A certificate begins an hour before it is made, because clocks differ.
    static let clockTolerance: TimeInterval = 3600

    /// A new credential.
    ///
    /// - Parameter after: until when the person's credentials are revoked. This one counts as issued after that.
    /// - Throws: `SecurityError` where the cluster key's own time is over or has not come yet, and where the credential could not be used yet
    ///   because a clock was ahead when the others were revoked.
    public static func issue(
        to person: Person, by key: ClusterKey, validFor lifetime: TimeInterval, now: Date, after revoked: Date? = nil
    ) throws(SecurityError) -> Credential {
        try key.checkTime(now)
        // Times in certificates are whole seconds.
        let issued = max(now, revoked.map { $0 + 1 } ?? now)
        guard issued - clockTolerance <= now else {
            throw SecurityError(
                "what is issued to \(person.name) until \(DayText.of(issued)) is revoked, and this machine's clock says "
                    + "\(DayText.of(now)): set the clock, or, where it was wrong when that was revoked, issue to another name"
            )
        }
        do {
            let privateKey = try SigningKey()
            let certificate = try CertificateRequest(
                commonNames: [person.name], notBefore: issued - clockTolerance,
                notAfter: min(now + lifetime, key.certificate.notAfter),
                extensions: [
                    CertificateExtension(.basicConstraints, "critical,CA:FALSE"),
                    CertificateExtension(.keyUsage, "critical,digitalSignature"),
                    // It dials, and nobody dials it.
                    CertificateExtension(.extendedKeyUsage, "clientAuth"),
                    CertificateExtension(
                        .subjectAlternativeName,
                        ([person.uri] + person.limits.uris).map { "URI:\($0)" }.joined(separator: ",")),
                    CertificateExtension(.authorityKeyIdentifier, "keyid"),
                ]
            ).issued(to: privateKey, by: (key.certificate, key.privateKey))
            return Credential(
                person: person, certificate: certificate, privateKey: privateKey, authority: key.certificate,
                questions: key.questionKey)
        } catch {
            throw SecurityError("a credential could not be issued: \(error)")
        }
    }

    /// The last moment at which nodes accept it.
    public var validUntil: Date { certificate.notAfter }

    /// The fingerprint of the cluster's key, to compare with `ClusterKey.fingerprint`.
    public var clusterFingerprint: String { authority.fingerprint }

    /// - Throws: `SecurityError` where its time is over or has not come yet.
    func checkTime(_ now: Date) throws(SecurityError) {
        try certificate.checkTime(now, of: "the \(self)", else: person.renewal)
    }

    /// The certificate as the nodes see it.
    var personal: PersonalCertificate { PersonalCertificate(person, certificate) }
}

extension Credential: Equatable, CustomStringConvertible {
    public static func == (left: Credential, right: Credential) -> Bool { left.certificate == right.certificate }

    /// This shows nothing secret, because settings are logged.
    public var description: String { "credential of \(person)" }
}

/// With what somebody asks by multicast which nodes there are. It is not the key that seals nodes' beacons, so that a person's
/// question passes for nothing else. Those who have it cannot tell whether a beacon is true; the link that follows can.
struct QuestionKey: Equatable, Sendable {
    let key: Secret
    /// The number that stands in the datagrams of questions.
    let number: UInt64
    /// The number that stands in beacons of the cluster's nodes.
    let beacons: UInt64

    static let length = 32 + 8 + 8

    init(key: Secret, number: UInt64, beacons: UInt64) {
        (self.key, self.number, self.beacons) = (key, number, beacons)
    }

    /// The result is `nil` where it has another length.
    init?(_ bytes: Secret) {
        guard bytes.count == QuestionKey.length else { return nil }
        (key, number, beacons) = bytes.withUnsafeBytes { bytes in
            let integers = bytes[32...].map(UInt64.init)
            return (
                Secret(Array(bytes[..<32])), integers[..<8].reduce(0) { $0 << 8 | $1 },
                integers[8...].reduce(0) { $0 << 8 | $1 }
            )
        }
    }

    var bytes: Secret {
        let integers = [number, beacons].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
        return Secret(key.withUnsafeBytes { Array($0) } + integers)
    }
}
