import Base
import Cryptography

/// The revocations as a file: a comment, and a line for each.
extension Revocations {
    private static let comment =
        "# SkyNet revocations, made by skynode key revoke. They are not secret, and each is signed with the cluster key."

    /// Where the revocations under a key are, unless somebody says otherwise: beside the key.
    public static func path(besideKey path: String) -> String { path + ".revoked" }

    /// The file's text.
    public var text: String { ([Revocations.comment] + all.map(\.line)).map { $0 + "\n" }.joined() }

    /// Reads a file; nothing is revoked where there is none.
    ///
    /// - Parameter security: whose signatures count.
    /// - Throws: `SecurityError` for a file that cannot be read, and for a line that nobody with the cluster key has made.
    public init(contentsOf path: String, for security: TransportSecurity) throws(SecurityError) {
        guard SecretFile.exists(path) else {
            self.init()
            return
        }
        try self.init(text: try SecretFile.read(path, .certificates), from: path, for: security)
    }

    /// - Parameter path: where the text is from, for error lines.
    init(text: String, from path: String, for security: TransportSecurity) throws(SecurityError) {
        self.init()
        let authorities = security.authorities
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            guard let revocation = Revocation(line: line) else {
                throw SecurityError(
                    "\(PrintableText.of(path)), line \(index + 1): not a revocation; skynode key revoke writes this file"
                )
            }
            guard revocation.isAuthentic(by: authorities) else {
                throw SecurityError(
                    "\(PrintableText.of(path)), line \(index + 1): not signed with this cluster's key")
            }
            add(revocation)
        }
    }
}

extension TransportSecurity {
    /// Those whose word counts about credentials.
    var authorities: [SignatureVerifier] {
        guard case .clusterKey(let key, let others) = self else { return [] }
        return ([key] + others).compactMap(\.certificate.verifier)
    }
}
