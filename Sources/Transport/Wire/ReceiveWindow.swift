/// The receiving side of a link's flow control: what the peer may still send, and when to grant it more.
///
/// Only data frames count. Control frames are few and small by their own limits, so that a link whose window is used
/// up still hears pings, cancels and grants.
package struct ReceiveWindow {
    /// The peer sent more than it was granted.
    package struct Exceeded: Error, CustomStringConvertible {
        package var description: String { "more data than the window that was granted" }
    }

    private let size: Int
    /// Bytes that the peer may still send.
    private var left: Int
    /// Bytes taken in and not yet granted again.
    private var taken = 0

    package init(size: Int) {
        self.size = size
        left = size
    }

    /// Notes that a data frame of so many bytes came in. Its length field is not counted.
    package mutating func received(_ bytes: Int) throws(Exceeded) {
        guard bytes <= left else { throw Exceeded() }
        left -= bytes
    }

    /// Notes that so many received bytes need no more room here. The result is a grant that is due; `nil` where none is. Grants
    /// come for a quarter of the window at a time, so that they cost nothing and the peer never runs dry.
    package mutating func consumed(_ bytes: Int) -> UInt32? {
        taken += bytes
        guard taken >= size / 4 else { return nil }
        defer { taken = 0 }
        left += taken
        return UInt32(clamping: taken)
    }
}
