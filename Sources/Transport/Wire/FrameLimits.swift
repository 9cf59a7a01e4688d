/// How much a peer may make this node hold, by phase and by kind. Every bound is checked before memory is taken.
package enum FrameLimits {
    /// A frame before the end of the handshake, when the peer has not yet said who it is. A hello fits many times over.
    package static let handshake = 4 * 1024
    /// A control frame: ping, cancel, peers, goodbye and the like.
    package static let control = 64 * 1024
    /// A data frame. Longer bodies travel in pieces.
    package static let data = 1024 * 1024
    /// Size of one piece of a long body: small enough that a control frame waits at most a few milliseconds
    /// behind it on a 1 Gb/s link, large enough that the header costs nothing.
    package static let piece = 256 * 1024
    /// One whole body put together from its pieces. A sector of the densest field is about a tenth of this.
    package static let body = 64 * 1024 * 1024
    /// All unfinished bodies of one link together.
    package static let assembly = 2 * body
    /// Unfinished bodies of one link; more than a node has slots and callers.
    package static let unfinishedBodies = 4096
    /// Bytes of arguments, or of answers, that wait to be written on one link before further ones wait to be encoded. One limit is
    /// for bodies that go in one piece, the other for longer bodies; the longest body alone may fill the other.
    package static let uncutWaiting = 16 * 1024 * 1024
    package static let cutWaiting = body
    /// Calls under way at once on one link, however many more the other side would take.
    package static let openCalls = 65_536
    /// Calls that may wait on one link for a place; beyond that even waiting is refused.
    package static let waitingCalls = 65_536
    /// Targets that one side may give an index on one link. A node has a few tens; the rest goes by name.
    package static let targets = 1024
    /// Control frames that wait to be written before the link is given up: the peer makes us answer and reads nothing.
    package static let controlFrames = 16_384
}
