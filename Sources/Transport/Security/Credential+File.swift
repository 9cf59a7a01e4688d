import Base
import Cryptography

/// The credential as one file: a comment line, the person's certificate, its private key, the cluster's certificate, and the key for
/// questions, all as PEM.
extension Credential {
    static let questionLabel = "SKYNET QUESTION KEY"

    /// The file's text.
    public var pem: String {
        let documents = [
            PEMDocument(label: "CERTIFICATE", contents: Secret(certificate.der)),
            PEMDocument(label: "PRIVATE KEY", contents: privateKey.pkcs8),
            PEMDocument(label: "CERTIFICATE", contents: Secret(authority.der)),
            PEMDocument(label: Credential.questionLabel, contents: questions.bytes),
        ]
        let comment =
            "# SkyNet credential of \(person). Whoever has this file can do what \(person.name) may do: keep it secret (chmod 600)."
        return "\(comment)\n\(documents.map(\.text).joined())"
    }

    /// Reads a credential.
    ///
    /// - Parameter path: where the text is from, for error lines.
    /// - Throws: `SecurityError` for a text that is no credential, or whose parts do not belong together.
    package init(pem: String, from path: String) throws(SecurityError) {
        let damaged = SecurityError(
            "\(PrintableText.of(path)): damaged, or not a credential; have another one issued (skynode key issue)")
        guard let documents = try? PEMDocument.all(in: pem),
            documents.map(\.label) == ["CERTIFICATE", "PRIVATE KEY", "CERTIFICATE", Credential.questionLabel],
            let certificate = try? Certificate(der: documents[0].contents.withUnsafeBytes { Array($0) }),
            let privateKey = try? SigningKey(pkcs8: documents[1].contents),
            let authority = try? Certificate(der: documents[2].contents.withUnsafeBytes { Array($0) }),
            let questions = QuestionKey(documents[3].contents),
            case .person(let personal) = PeerIdentity(der: certificate.der),
            certificate.belongs(to: privateKey), authority.isRootAuthority, certificate.isSigned(by: authority)
        else { throw damaged }
        self.init(
            person: personal.person, certificate: certificate, privateKey: privateKey, authority: authority,
            questions: questions)
    }

    /// Whether a text looks like a credential, and not like a cluster key or something else.
    static func isOne(_ pem: String) -> Bool { pem.contains("-----BEGIN \(questionLabel)-----") }
}
