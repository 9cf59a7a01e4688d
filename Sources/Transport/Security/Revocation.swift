import Base
import Cryptography
public import FoundationEssentials

/// The word of who has the cluster key that a person's credential counts no more. Its signature tells every node that it is true,
/// whoever brings it.
///
/// It is for all credentials of that name that were issued before its time. A later one counts again.
public struct Revocation: Hashable, Codable, Sendable {
    /// The person's name.
    public let name: String
    /// Seconds since 1970. Credentials that were issued until then do not count.
    public let time: UInt64
    let signature: [UInt8]

    /// How far in the future the time is when it is made, in seconds: the clock of the machine where a credential was issued may have
    /// been ahead, or this one's may be behind. It is half of what a credential begins before it is issued, so that one that is issued
    /// after this is good at once where a clock is behind by the other half.
    static let clockTolerance = Credential.clockTolerance / 2
    /// The longest signature, in bytes: two numbers of 32 bytes with what DER adds (SEC 1, C.5).
    private static let signatureLimit = 72

    private static func message(_ name: String, _ time: UInt64) -> [UInt8] {
        Array("skynet revocation 1\n\(name)\n\(time)".utf8)
    }

    /// - Parameter known: until when the person's credentials are revoked already. What has been issued since counts as issued a second
    ///   later, and this is for that, too, whatever the clock says.
    /// - Throws: `SecurityError` for a text that is no name of a person, and where the cluster key's own time is over or has not come yet:
    ///   the clock is wrong then, and nothing would be revoked.
    public init(_ name: String, by key: ClusterKey, now: Date, after known: Date? = nil) throws(SecurityError) {
        guard Person.isValidName(name) else { throw SecurityError("\(PrintableText.of(name)): not a person's name") }
        try key.checkTime(now)
        let until = max(max(now, key.made) + Revocation.clockTolerance, known.map { $0 + 1 } ?? .distantPast)
        self.init(name, until: UInt64(max(0, until.timeIntervalSince1970)), by: key)
    }

    private init(_ name: String, until time: UInt64, by key: ClusterKey) {
        (self.name, self.time) = (name, time)
        signature = key.privateKey.signature(of: Revocation.message(name, time))
    }

    /// The same, signed with another key.
    func signed(by key: ClusterKey) -> Revocation { Revocation(name, until: time, by: key) }

    /// Whether one of these has signed it.
    func isAuthentic(by authorities: [SignatureVerifier]) -> Bool {
        guard Person.isValidName(name), signature.count <= Revocation.signatureLimit else { return false }
        let message = Revocation.message(name, time)
        return authorities.contains { $0.isAuthentic(signature, for: message) }
    }

    /// Its line in a file: the word `revoke`, the name, the time and the signature.
    var line: String { "revoke \(name) \(time) \(HexText.of(signature))" }

    /// The result is `nil` for what is not such a line. Its signature is not looked at.
    init?(line: some StringProtocol) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "revoke", Person.isValidName(String(words[1])), let time = UInt64(words[2]),
            String(time) == words[2], let signature = HexText.bytes(String(words[3]))
        else { return nil }
        (self.name, self.time, self.signature) = (String(words[1]), time, signature)
    }
}

/// All revocations that are known, one for each name: the latest.
public struct Revocations: Equatable, Sendable {
    private var latest: [String: Revocation] = [:]
    /// What a file has besides, signed with keys that do not count here, as before a change of the key. It revokes nobody.
    public internal(set) var ofOtherKeys: [Revocation] = []

    /// The most names. Whoever has to revoke more makes a new cluster key.
    public static let limit = 300

    public init() {}

    /// All of them, by name.
    public var all: [Revocation] { latest.values.sorted { $0.name < $1.name } }

    /// Whether one says more than what is known, if it is authentic.
    func isNews(_ revocation: Revocation) -> Bool {
        latest[revocation.name].map { $0.time < revocation.time } ?? (latest.count < Revocations.limit)
    }

    /// Takes one that is authentic.
    ///
    /// - Returns: whether it says more than what was known.
    @discardableResult
    public mutating func add(_ revocation: Revocation) -> Bool {
        guard isNews(revocation) else { return false }
        latest[revocation.name] = revocation
        return true
    }

    /// Takes what another file has.
    public mutating func add(contentsOf others: Revocations) {
        for revocation in others.all { add(revocation) }
        ofOtherKeys += others.ofOtherKeys
    }

    /// Until when a person's credentials do not count; `nil` where nothing was revoked.
    public func time(of name: String) -> Date? {
        latest[name].map { Date(timeIntervalSince1970: TimeInterval($0.time)) }
    }

    /// Whether a person's certificate does not count.
    func revoke(_ certificate: PersonalCertificate) -> Bool {
        guard let time = time(of: certificate.person.name) else { return false }
        return certificate.issued <= time
    }
}
