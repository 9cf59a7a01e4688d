/// The incarnation of a node: a random number drawn at each start. A node that restarts is another node. Names and addresses
/// identify nobody.
public typealias NodeID = Identity<NodeIncarnation>

/// The subject of a `NodeID`.
public enum NodeIncarnation {}
