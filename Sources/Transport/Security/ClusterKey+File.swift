import Base
import Crypto
import SwiftASN1
import X509

/// The key as one file: a comment line, the certificate and the private key, both as PEM.
extension ClusterKey {
    /// The first line of the file, for a person who opens it.
    static let comment =
        "# SkyNet cluster key. Whoever has this file can use every node of the cluster: keep it secret (chmod 600)."

    /// The file's text.
    public var pem: String {
        let certificate = PEMDocument(type: "CERTIFICATE", derBytes: certificateBytes)
        return [ClusterKey.comment, certificate.pemString, privateKey.pemRepresentation, ""].joined(separator: "\n")
    }

    /// The certificate as DER.
    var certificateBytes: [UInt8] {
        var serializer = DER.Serializer()
        // The certificate was parsed or made here, so it can be written. If it could not, nobody would accept the empty result.
        do { try serializer.serialize(certificate) } catch { return [] }
        return serializer.serializedBytes
    }

    /// Reads a key file.
    ///
    /// - Throws: `SecurityError` for a file that is missing, too long, not a key, or open to others.
    public init(contentsOf path: String) throws(SecurityError) {
        let (text, exposure) = try SecretFile.examine(path, .secret)
        try self.init(pem: text, from: path)
        if let exposure { throw exposure }
    }

    /// - Parameter path: where the text is from, for error lines.
    package init(pem: String, from path: String) throws(SecurityError) {
        let shown = PrintableText.of(path)
        let notAKey = "\(shown): not a cluster key; make one with: skynode key new > cluster.key"
        let documents: [PEMDocument]
        do {
            documents = try PEMDocument.parseMultiple(pemString: pem)
        } catch {
            throw SecurityError(notAKey)
        }
        let certificates = documents.filter { $0.discriminator == "CERTIFICATE" }
        let keys = documents.filter { $0.discriminator == "PRIVATE KEY" }
        guard certificates.count == 1, keys.count == 1, documents.count == 2 else {
            if certificates.count == 1, documents.count == 1 {
                throw SecurityError("\(shown): the certificate alone, without its private key; copy the whole file")
            }
            throw SecurityError(notAKey)
        }
        let certificate: Certificate
        let privateKey: P256.Signing.PrivateKey
        do {
            certificate = try Certificate(pemDocument: certificates[0])
            privateKey = try P256.Signing.PrivateKey(derRepresentation: keys[0].derBytes)
        } catch {
            throw SecurityError("\(shown): damaged, or not a cluster key; copy it again from another machine")
        }
        guard certificate.publicKey == Certificate.PublicKey(privateKey.publicKey) else {
            throw SecurityError(
                "\(shown): the private key does not belong to the certificate; copy it again from another machine")
        }
        guard ClusterKey.isAuthority(certificate) else {
            throw SecurityError(
                "\(shown): not a cluster key but some other certificate; for those there are --tls-certificate, "
                    + "--tls-private-key and --tls-trust-roots")
        }
        self.init(certificate: certificate, privateKey: privateKey)
    }

    private static func isAuthority(_ certificate: Certificate) -> Bool {
        guard let constraints = try? certificate.extensions.basicConstraints,
            case .isCertificateAuthority = constraints
        else { return false }
        return certificate.issuer == certificate.subject
            && certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
    }
}
