/// What an outbox gives out at once, in the order in which it goes over the wire.
struct OutgoingBatch {
    enum Part {
        case frame(Frame)
        /// So many further bytes of `shortBytes`, which are whole frames.
        case shorts(count: Int)
    }

    private(set) var parts: [Part] = []
    /// The bytes of all short frames.
    private(set) var shortBytes: [UInt8] = []

    /// Memory for short frames that is kept for the next batch, in bytes.
    private static let idleCapacity = 64 * 1024

    var isEmpty: Bool { parts.isEmpty }

    mutating func append(_ frame: Frame) { parts.append(.frame(frame)) }

    /// Appends the short frames that `take` puts behind the bytes that are there.
    ///
    /// - Returns: how many bytes they have.
    mutating func appendShorts(_ take: (inout [UInt8]) -> Void) -> Int {
        let before = shortBytes.count
        take(&shortBytes)
        let count = shortBytes.count - before
        if count > 0 { parts.append(.shorts(count: count)) }
        return count
    }

    mutating func clear() {
        parts.removeAll(keepingCapacity: true)
        if shortBytes.capacity > OutgoingBatch.idleCapacity {
            shortBytes = []
        } else {
            shortBytes.removeAll(keepingCapacity: true)
        }
    }
}
