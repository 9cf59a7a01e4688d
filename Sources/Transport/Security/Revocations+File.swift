import Base
import Cryptography
import FoundationEssentials
import Glibc

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

    /// Changes a file. Several processes that do so at the same time wait for each other, so that none loses what another has added.
    ///
    /// - Parameters:
    ///   - security: as for `init(contentsOf:for:)`.
    ///   - patience: how long another process may keep the file.
    /// - Throws: `SecurityError` for a file that cannot be read or written; what `body` throws.
    public static func change(
        _ path: String, for security: TransportSecurity, patience: Duration = .seconds(10),
        _ body: (inout Revocations) throws -> Void
    ) throws {
        let lock = try lock(path, patience)
        defer { close(lock) }
        var revocations = try Revocations(contentsOf: path, for: security)
        try body(&revocations)
        try revocations.write(to: path, for: security)
    }

    /// Writes a file, in one step for those who read it. The file is not secret, and nodes of another user read it. Nobody else may write
    /// it at the same time.
    ///
    /// - Throws: `SecurityError` where it cannot be written.
    public func write(to path: String, for security: TransportSecurity) throws(SecurityError) {
        // A link to a file elsewhere, as to one that several keys share, stays a link.
        let target = realpath(path, nil)
        defer { free(target) }
        let file = target.map { String(cString: $0) } ?? path
        // A name that nobody else has: what is there already is not ours.
        let new = file + ".\(HexText.of(UInt64.random(in: .min ... .max))).new"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw Revocations.failure(path, errno) }
        defer { close(descriptor) }
        // A revocation that a power cut takes back would let somebody in.
        guard Revocations.write(text(for: security), to: descriptor), fchmod(descriptor, 0o644) == 0,
            fsync(descriptor) == 0, rename(new, file) == 0
        else {
            let code = errno
            unlink(new)
            throw Revocations.failure(path, code)
        }
    }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { return false }
            bytes = bytes.dropFirst(max(0, count))
        }
        return true
    }

    /// Opens a file and locks it; an empty one where there was none.
    private static func lock(_ path: String, _ patience: Duration) throws(SecurityError) -> Int32 {
        let end = ContinuousClock.now + patience
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o644)
            guard descriptor >= 0 else { throw failure(path, errno) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                var (locked, there) = (stat(), stat())
                // Another process may have put a new file in its place meanwhile, and that one is not locked.
                if fstat(descriptor, &locked) == 0, stat(path, &there) == 0, locked.st_ino == there.st_ino,
                    locked.st_dev == there.st_dev
                {
                    return descriptor
                }
                close(descriptor)
                continue
            }
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK || code == EINTR else { throw failure(path, code) }
            guard ContinuousClock.now < end else {
                throw SecurityError(
                    "\(PrintableText.of(path)): another process has locked it; fuser \(PrintableText.of(path)) says which"
                )
            }
            usleep(10_000)
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> SecurityError {
        SecurityError("\(PrintableText.of(path)): cannot be written: \(String(cString: strerror(code)))")
    }

    /// - Parameter path: where the text is from, for error lines.
    init(text: String, from path: String, for security: TransportSecurity) throws(SecurityError) {
        self.init()
        let authorities = security.authorities
        // A revocation does not tell who has signed it. So only the comment above it can tell a damaged one from another key's.
        var signer: SignatureVerifier?
        // A separator "\n" would not find the end of a line that an editor has ended with "\r\n": to Swift that is one character.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            if line.hasPrefix(Revocations.title) {
                guard !Revocations.hidesRevocation(line) else {
                    throw Revocations.damage("a revocation in a comment", path, line: index + 1)
                }
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

    /// Whether there is a revocation in a comment of ours, as in a file whose lines became one.
    private static func hidesRevocation(_ comment: Substring) -> Bool {
        let words = comment.split(separator: " ")
        return words.indices.contains { Revocation(line: words[$0...].prefix(4).joined(separator: " ")) != nil }
    }

    private static func damage(_ what: String, _ path: String, line: Int) -> SecurityError {
        SecurityError(
            "\(PrintableText.of(path)), line \(line): \(what): the file is damaged, or somebody has changed it. Move it away; this "
                + "node then hears of revocations from the other nodes, or revoke again: skynode key revoke NAME")
    }
}

extension TransportSecurity {
    /// Tells true revocations from others.
    ///
    /// What an accepted key has signed comes back with the signature of this node's own key: every node that has a link to this one knows
    /// that key, and it still counts when the accepted one does not any more. People have credentials under both keys while these are
    /// changed. What is older than the own key stays as it is, because all credentials under that key were issued later.
    func examine(_ revocations: [Revocation]) -> (authentic: [Revocation], others: [Revocation]) {
        guard case .clusterKey(let key, let accepted) = self else { return ([], revocations) }
        let (own, others) = ([key].compactMap(\.certificate.verifier), accepted.compactMap(\.certificate.verifier))
        let begin = key.certificate.notBefore.timeIntervalSince1970
        var result: (authentic: [Revocation], others: [Revocation]) = ([], [])
        for revocation in revocations {
            if revocation.isAuthentic(by: own) {
                result.authentic.append(revocation)
            } else if revocation.isAuthentic(by: others) {
                result.authentic.append(TimeInterval(revocation.time) < begin ? revocation : revocation.signed(by: key))
            } else {
                result.others.append(revocation)
            }
        }
        return result
    }

    /// Those whose word counts about credentials.
    var authorities: [(fingerprint: String, verifier: SignatureVerifier)] {
        guard case .clusterKey(let key, let others) = self else { return [] }
        return ([key] + others).compactMap { key in key.certificate.verifier.map { (key.fingerprint, $0) } }
    }
}
