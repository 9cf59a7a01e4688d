import Glibc
import NIOCore

/// How many segments with data the kernel has received on a TCP connection, repeated ones included.
///
/// Where acknowledgements are lost, the peer's kernel repeats data that arrived long ago and holds back everything new. None of
/// that reaches us as bytes. But it shows that the peer is there and wants to be heard.
struct SegmentCount {
    private var last: UInt32?

    /// The beginning of `struct tcp_info` of <linux/tcp.h>, which only ever grows at its end; the C library has an older
    /// and shorter one, and no module can have both.
    private struct Info {
        var bytes = InlineArray<20, UInt64>(repeating: 0)

        /// `tcpi_data_segs_in`, at byte 152.
        var dataSegmentsIn: UInt32 { withUnsafeBytes(of: bytes) { $0.load(fromByteOffset: 152, as: UInt32.self) } }
    }

    private static let tcpInfo = NIOBSDSocket.Option(rawValue: TCP_INFO)

    /// Asks the kernel, on the channel's loop.
    ///
    /// - Returns: the count; `nil` where the connection is not a TCP connection or has ended.
    static func read(_ channel: any Channel) -> UInt32? {
        guard channel.remoteAddress?.port != nil, let provider = channel as? any SocketOptionProvider else {
            return nil
        }
        let info: EventLoopFuture<Info> = provider.unsafeGetSocketOption(level: .tcp, name: tcpInfo)
        var count: UInt32?
        // The answer is there at once, because this is the channel's loop.
        info.assumeIsolated().whenSuccess { count = $0.dataSegmentsIn }
        return count
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
