/// One run of one node: a random number drawn at each start, its incarnation. A node that restarts is another
/// node; names and addresses identify nobody.
public typealias NodeID = Identity<NodeIncarnation>

/// What a `NodeID` is the identity of.
public enum NodeIncarnation {}
