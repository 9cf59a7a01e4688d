import Base
import Cryptography

/// The key as one file: a comment line, the certificate and the private key, both as PEM.
extension ClusterKey {
    /// The first line of the file, for a person who opens it.
    static let comment =
        "# SkyNet cluster key. Whoever has this file can use every node of the cluster: keep it secret (chmod 600)."

    /// The file's text.
    public var pem: String {
        let certificate = PEMDocument(label: "CERTIFICATE", contents: Secret(certificate.der))
        let privateKey = PEMDocument(label: "PRIVATE KEY", contents: privateKey.pkcs8)
        return "\(ClusterKey.comment)\n\(certificate.text)\(privateKey.text)"
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
            documents = try PEMDocument.all(in: pem)
        } catch {
            throw SecurityError(notAKey)
        }
        let certificates = documents.filter { $0.label == "CERTIFICATE" }
        let keys = documents.filter { $0.label == "PRIVATE KEY" }
        guard certificates.count == 1, keys.count == 1, documents.count == 2 else {
            if certificates.count == 1, documents.count == 1 {
                throw SecurityError("\(shown): the certificate alone, without its private key; copy the whole file")
            }
            throw SecurityError(notAKey)
        }
        let certificate: Certificate
        let privateKey: SigningKey
        do {
            certificate = try Certificate(der: certificates[0].contents.withUnsafeBytes { Array($0) })
            privateKey = try SigningKey(pkcs8: keys[0].contents)
        } catch {
            throw SecurityError("\(shown): damaged, or not a cluster key; copy it again from another machine")
        }
        guard certificate.belongs(to: privateKey) else {
            throw SecurityError(
                "\(shown): the private key does not belong to the certificate; copy it again from another machine")
        }
        guard certificate.isRootAuthority else {
            throw SecurityError(
                "\(shown): not a cluster key but some other certificate; for those there are --tls-certificate, "
                    + "--tls-private-key and --tls-trust-roots")
        }
        self.init(certificate: certificate, privateKey: privateKey)
    }
}
