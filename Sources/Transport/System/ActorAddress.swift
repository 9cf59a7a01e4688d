/// Identity of a distributed actor: the incarnation of its node and its name there. Well-known actors have fixed
/// names, so that a peer can be called without asking for a directory first.
public struct ActorAddress: Hashable, Codable, Sendable, CustomStringConvertible {
    public var node: NodeID
    public var name: String

    /// Longest name in bytes of UTF-8.
    public static let nameLimit = 128

    public init(node: NodeID, name: String) {
        self.node = node
        self.name = name
    }

    public var description: String { "\(name)@\(node)" }
}
