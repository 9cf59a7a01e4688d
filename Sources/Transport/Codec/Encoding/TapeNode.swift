/// One value on the tape that is not a plain scalar of its parent: a container, or a type that has yet to say what it is. A message
/// has fewer than 2^31 bytes, and so fewer nodes and parts than that: 32 bits can number them.
struct TapeNode {
    enum Kind: UInt8 {
        case undecided, single, keyed, unkeyed
    }

    let parent: UInt32
    let label: PathLabel
    /// The number of containers around it.
    let depth: UInt32
    var kind = Kind.undecided
    /// The parts of its body are a linked list in `EncodingTape.parts`.
    var firstPart = TapePart.none
    var lastPart = TapePart.none
    /// Elements of an unkeyed container.
    var count: UInt32 = 0
    /// Bytes of the body, known at assembly.
    var size: UInt32 = 0
    /// Bit n tells that the field with key n is written.
    var fields: UInt64 = 0

    static let root = TapeNode(parent: 0, label: .root, depth: 0)
}

/// A piece of a container's body.
struct TapePart {
    enum Content {
        /// Bytes of the tape from here up to where the next part was begun.
        case bytes
        /// A payload kept aside.
        case payload(UInt32)
        /// All of another node.
        case child(UInt32)
    }

    let content: Content
    /// Where the tape's bytes ended when the part was begun.
    let offset: UInt32
    /// The next part of the same body.
    var next = Self.none

    /// No part.
    static let none = UInt32.max
}
