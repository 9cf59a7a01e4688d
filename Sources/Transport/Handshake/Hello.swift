import Base

/// What each side says about itself before any call: who it is, which versions it speaks, and where it can be reached.
public struct Hello: Hashable, Codable, Sendable {
    /// What a peer is there for.
    public enum Role: String, Codable, Sendable {
        /// A member of the cluster: it lends its slots and coordinates jobs.
        case node
        /// A command that uses the cluster through one node and is no member.
        case client
        /// A worker process of a node, over the node's private socket.
        case worker
    }

    /// The oldest and the newest protocol version spoken. The link uses the newest that both sides speak.
    public var minimumVersion: UInt16
    public var maximumVersion: UInt16
    /// Name of the cluster; links exist only within one.
    public var cluster: String
    public var node: NodeID
    /// The node's name for people. It is not unique.
    public var name: String
    public var role: Role
    /// Where others reach this node, if the host or the port had to be told; `nil` for clients and workers.
    public var advertised: NodeAddress?
    /// What this side takes from the other.
    public var limits: LinkLimits
    /// Grows with every hello of this node, so that both sides know which of its dials is the newest.
    public var dial: UInt64
    /// The version of the program, for people.
    public var version: String?
    /// What the numbers of the sender's results depend on, as one line of text that is compared as a whole; `nil` where it does not
    /// say.
    public var arithmetic: String?
    /// Whether the sender takes no new work now.
    public var isDraining: Bool?

    /// The newest protocol this code speaks, and the oldest. Version 1 had no window and no indices of targets; since version 3
    /// a pong tells the time.
    public static let currentVersion: UInt16 = 3
    public static let oldestVersion: UInt16 = 2
    /// Longest name of a node or cluster, in bytes of UTF-8: it has to fit a beacon and a line of a terminal.
    public static let nameLimit = 63
    /// Longest `arithmetic`, in bytes of UTF-8: the versions of a dozen libraries.
    public static let arithmeticLimit = 255

    public init(
        cluster: String, node: NodeID, name: String, role: Role, advertised: NodeAddress?, limits: LinkLimits = .init(),
        dial: UInt64 = 1, version: String? = nil, arithmetic: String? = nil, isDraining: Bool? = nil
    ) {
        minimumVersion = Hello.oldestVersion
        maximumVersion = Hello.currentVersion
        self.cluster = cluster
        self.node = node
        self.name = name
        self.role = role
        self.advertised = advertised
        self.limits = limits
        self.dial = dial
        self.version = version
        self.arithmetic = arithmetic
        self.isDraining = isDraining
    }

    /// The versions spoken; `minimumVersion` must not be above `maximumVersion`.
    package var versions: ClosedRange<UInt16> {
        minimumVersion...max(minimumVersion, maximumVersion)
    }

    /// Whether an `arithmetic` is safe to print and to keep: one line without control characters.
    static func isValidArithmetic(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= arithmeticLimit && PrintableText.isWhole(text)
    }

    /// A name that is safe to print and to send: 1 to 63 bytes, no control characters or ends of lines.
    public static func isValidName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= nameLimit && PrintableText.isWhole(name)
    }
}
