/// What the other end of a link may ask for, from those who may least to those who may most.
public enum CallerRole: UInt8, Comparable, Codable, Sendable {
    /// A person who has work done, and sees and stops their own.
    case user = 1
    /// A person who looks after the cluster, and everybody's work.
    case `operator` = 2
    /// A node, and whoever has the key from which nodes make their certificates.
    case node = 3

    public static func < (left: CallerRole, right: CallerRole) -> Bool { left.rawValue < right.rawValue }
}

/// A person, as a certificate of the cluster's authority names one.
public struct Person: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The name that the issuer of the credential gave.
    public let name: String
    /// What the person may do: `user` or `operator`.
    public let role: CallerRole
    /// How much a user may use. An operator has no limits.
    public let limits: PersonalLimits

    /// The longest name, in bytes.
    static let nameLimit = 63

    /// The result is `nil` where it is no name of a person, no role of one, or where somebody else than a user is limited.
    public init?(name: String, role: CallerRole, limits: PersonalLimits = PersonalLimits()) {
        guard Person.isValidName(name), role != .node, role == .user || limits.isEmpty else { return nil }
        (self.name, self.role, self.limits) = (name, role, limits)
    }

    /// A name has letters and digits of ASCII, and `. _ - @` between them: it stands in certificates, lists and logs, and two names
    /// that look alike must be one.
    public static func isValidName(_ name: String) -> Bool {
        guard let first = name.utf8.first, isAlphanumeric(first), name.utf8.count <= nameLimit else { return false }
        return name.utf8.allSatisfy { isAlphanumeric($0) || "._-@".utf8.contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// The word for the role in certificates, commands and lists.
    public var roleName: String { role == .operator ? "operator" : "user" }

    /// The command that makes this person a credential.
    package var issueCommand: String { "skynode key issue \(role == .operator ? "--role operator " : "")\(name)" }

    /// What a person does whose credential does not count any more.
    package var renewal: String { "have another credential issued, on a machine with the cluster key: \(issueCommand)" }

    public var description: String { "\(roleName) \(name)" }
}
