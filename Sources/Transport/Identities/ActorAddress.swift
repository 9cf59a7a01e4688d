/// The identity of a distributed actor: the incarnation of its node and its name there. Well-known actors have fixed names, so that
/// a peer can be called without asking for a directory first.
public struct ActorAddress: Hashable, Codable, Sendable, CustomStringConvertible {
    public var node: NodeID
    public var name: String

    public init(node: NodeID, name: String) {
        self.node = node
        self.name = name
    }

    public var description: String { "\(name)@\(node)" }
}
