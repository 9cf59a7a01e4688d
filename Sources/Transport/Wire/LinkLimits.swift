/// What one side of a link takes from the other. It says so in its hello, and the other side keeps to it. A peer that exceeds what
/// it was told does not do so through a bug of ours, and its link is closed.
public struct LinkLimits: Hashable, Codable, Sendable {
    /// Bytes of call, reply and failure frames that may be on their way to this side and not yet taken in. The other
    /// side stops sending such frames, and no others, when it has used them up, until it is granted more.
    public var window: UInt32 = 4 * 1024 * 1024
    /// Calls of the other side that may run here at once. Beyond that its calls wait where they are made.
    public var calls: UInt32 = 4096
    /// The longest arguments or result taken, in bytes.
    public var body: UInt32 = 64 * 1024 * 1024

    public init() {}

    /// Limits with which a link can work: a window of two pieces, so that it never stalls half granted; at least one
    /// call; a body of one piece.
    package var isReasonable: Bool {
        window >= 2 * FrameLimits.piece && window <= 1 << 30 && calls >= 1 && body >= FrameLimits.piece
    }
}
