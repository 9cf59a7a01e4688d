/// Why a node does not want a link. It travels to the other side, whose operator has to understand it.
public struct Refusal: Error, Hashable, Codable, Sendable, CustomStringConvertible {
    public enum Reason: String, Codable, Sendable {
        /// The peer does not speak this protocol at all.
        case notThisProtocol
        /// The peer speaks only versions that this node does not.
        case version
        /// The peer belongs to another cluster.
        case cluster
        /// The peer is this node itself.
        case itself
        /// There is a link between the two already, and that one is kept.
        case duplicate
        /// The node is shutting down.
        case leaving
        /// The peer is of a kind, or in a place, that is not served here.
        case role
        /// The peer claims to be another node than its certificate says.
        case identity
        /// A reason for which this version has no name.
        case other
    }

    public var reason: Reason
    /// One line for a person.
    public var text: String
    /// With `duplicate`, this is the node that was dialled. The side that dialled may not have known it.
    public var node: NodeID?

    public init(_ reason: Reason, _ text: String, by node: NodeID? = nil) {
        self.reason = reason
        self.text = text
        self.node = node
    }

    public var description: String { text }
}
