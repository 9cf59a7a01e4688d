import NIOCore

/// How many segments with data the kernel has received on a TCP connection, repeated ones included.
///
/// Where acknowledgements are lost, the peer's kernel repeats data that arrived long ago and holds back everything new. None of
/// that reaches us as bytes. But it shows that the peer is there and wants to be heard.
struct SegmentCount {
    private var last: UInt32?

    /// Asks the kernel, on the channel's loop.
    ///
    /// - Returns: the count; `nil` where the connection is not a TCP connection or has ended.
    static func read(_ channel: any Channel) -> UInt32? {
        channel.remoteAddress?.port == nil ? nil : ConnectionState.read(channel)?.dataSegmentsIn
    }

    /// Forgets the count, because something was heard: segments until now say nothing about a silence that begins later.
    mutating func forget() { last = nil }

    /// Whether segments have come since the last call in the same silence.
    mutating func hasGrown(to count: UInt32?) -> Bool {
        defer { last = count }
        guard let last, let count else { return false }
        return count != last
    }
}
