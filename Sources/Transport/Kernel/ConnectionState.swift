import Glibc
import NIOCore

/// What the kernel knows of a TCP connection: the beginning of `struct tcp_info` of <linux/tcp.h>, which only ever grows at its end; the
/// C library has an older and shorter one, and no module can have both.
struct ConnectionState {
    private var bytes = InlineArray<20, UInt64>(repeating: 0)

    private static let option = NIOBSDSocket.Option(rawValue: TCP_INFO)

    /// Asks the kernel, on the channel's loop.
    ///
    /// - Returns: `nil` where this is not a TCP connection.
    static func read(_ channel: any Channel) -> ConnectionState? {
        guard let provider = channel as? any SocketOptionProvider else { return nil }
        let info: EventLoopFuture<ConnectionState> = provider.unsafeGetSocketOption(level: .tcp, name: option)
        var state: ConnectionState?
        // The answer is there at once, because this is the channel's loop.
        info.assumeIsolated().whenSuccess { state = $0 }
        return state
    }

    /// `tcpi_data_segs_in`: how many segments with data have come, repeated ones included.
    var dataSegmentsIn: UInt32 { number(at: 152) }

    /// `tcpi_last_data_recv`: the time since data came last, or since the connection was made.
    var sinceLastData: Duration { .milliseconds(Int64(number(at: 52))) }

    private func number(at offset: Int) -> UInt32 {
        withUnsafeBytes(of: bytes) { $0.load(fromByteOffset: offset, as: UInt32.self) }
    }
}
