import Base
import Cryptography

/// The revocations as a file: for each cluster key a comment that names it, and a line for each revocation that it has signed.
extension Revocations {
    /// How the comment begins that says which key has signed the lines after it.
    private static let title = "# SkyNet revocations"
    /// What a comment has before the key's fingerprint. Files of earlier versions do not name the key.
    private static let keyLabel = " of the cluster key "
    /// The longest file, in bytes. `limit` of the longest lines and as many of another key fit.
    static let sizeLimit = 256 * 1024

    /// Where the revocations under a key are, unless somebody says otherwise: beside the key.
    public static func path(besideKey path: String) -> String { path + ".revoked" }

    /// The file's text.
    ///
    /// - Parameter security: whose keys have signed the revocations.
    public func text(for security: TransportSecurity) -> String {
        var sections: [(title: String, lines: [String])] = []
        var rest = all
        for authority in security.authorities {
            let own = rest.filter { $0.isAuthentic(by: [authority.verifier]) }
            rest.removeAll(where: own.contains)
            // An empty list names its key, too.
            let title = Revocations.title + Revocations.keyLabel + authority.fingerprint
            sections.append((title + ", made by skynode key revoke. They are not secret.", own.map(\.line)))
        }
        rest += ofOtherKeys.prefix(Revocations.limit)
        if !rest.isEmpty {
            sections.append((Revocations.title + " of another key, which are left out.", rest.map(\.line)))
        }
        return sections.flatMap { [$0.title] + $0.lines }.map { $0 + "\n" }.joined()
    }

    /// Reads a file; nothing is revoked where there is none.
    ///
    /// - Parameter security: whose signatures count. What others have signed is left out, and is in `ofOtherKeys`.
    /// - Throws: `SecurityError` for a file that cannot be read, and for a damaged line.
    public init(contentsOf path: String, for security: TransportSecurity) throws(SecurityError) {
        guard SecretFile.exists(path) else {
            self.init()
            return
        }
        let text = try SecretFile.read(path, .certificates, limit: Revocations.sizeLimit)
        try self.init(text: text, from: path, for: security)
    }

    /// - Parameter path: where the text is from, for error lines.
    init(text: String, from path: String, for security: TransportSecurity) throws(SecurityError) {
        self.init()
        let authorities = security.authorities
        // A revocation does not tell who has signed it. So only the comment above it can tell a damaged one from another key's.
        var signer: SignatureVerifier?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix(Revocations.title) {
                signer = authorities.first { line.contains(Revocations.keyLabel + $0.fingerprint) }?.verifier
            }
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            guard let revocation = Revocation(line: line) else {
                throw Revocations.damage("not a revocation", path, line: index + 1)
            }
            if revocation.isAuthentic(by: authorities.map(\.verifier)) {
                add(revocation)
            } else if signer == nil {
                ofOtherKeys.append(revocation)
            } else {
                throw Revocations.damage(
                    "not signed with this cluster's key, though it should be", path, line: index + 1)
            }
        }
    }

    private static func damage(_ what: String, _ path: String, line: Int) -> SecurityError {
        SecurityError(
            "\(PrintableText.of(path)), line \(line): \(what): the file is damaged, or somebody has changed it. Move it away; this "
                + "node then hears of revocations from the other nodes, or revoke again: skynode key revoke NAME")
    }
}

extension TransportSecurity {
    /// Those whose word counts about credentials.
    var authorities: [(fingerprint: String, verifier: SignatureVerifier)] {
        guard case .clusterKey(let key, let others) = self else { return [] }
        return ([key] + others).compactMap { key in key.certificate.verifier.map { (key.fingerprint, $0) } }
    }
}
