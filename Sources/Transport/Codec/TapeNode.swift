/// One value on the tape that is not a plain scalar of its parent: a container, or a type that has yet to say what
/// it is.
struct TapeNode {
    enum Kind {
        case undecided, single, keyed, unkeyed
    }

    let parent: Int
    let label: PathLabel
    /// Containers around it.
    let depth: Int
    var kind = Kind.undecided
    /// The parts of its body are a linked list in `EncodingTape.parts`; -1 ends it.
    var firstPart = -1
    var lastPart = -1
    /// Elements of an unkeyed container.
    var count = 0
    /// Bit n: the field with key n is written.
    var fields: UInt64 = 0
    /// Bytes of the body, known at assembly.
    var size = 0
}

/// A piece of a container's body.
struct TapePart {
    enum Content {
        /// Bytes of the tape from here up to where the next part was begun.
        case bytes
        /// A payload kept aside.
        case payload(Int)
        /// All of another node.
        case child(Int)
    }

    let content: Content
    /// Where the tape's bytes ended when the part was begun.
    let offset: Int
    /// The next part of the same body, or -1.
    var next = -1
}
