import NIOCore

/// Turns what waits on a link into as few writes as make sense: small frames share a buffer, long bodies are written
/// as they are, without a copy.
struct FrameWriter {
    /// Bytes taken from the outbox at once. A control frame that comes in meanwhile waits for no more than these.
    static let batchSize = 256 * 1024
    /// Bodies up to this size are copied behind their header: a copy of a few kilobytes is cheaper than a write.
    static let copyLimit = 8 * 1024

    private var frames: [Frame] = []

    /// Writes one batch, in order.
    ///
    /// - Returns: how many bytes it had; 0 where nothing can be sent now.
    mutating func write(from link: Link, _ write: (ByteBuffer) -> Void) -> Int {
        link.takeFrames(&frames, bytes: FrameWriter.batchSize)
        guard !frames.isEmpty else { return 0 }
        defer { frames.removeAll(keepingCapacity: true) }
        var bytes = ByteBufferAllocator().buffer(capacity: copiedSize)
        var count = 0
        for frame in frames {
            count += 4 + frame.length
            frame.writeHeader(into: &bytes)
            FrameWriter.put(frame.body, behind: &bytes, write)
            if let tail = frame.tail, tail.readableBytes > 0 { FrameWriter.put(tail, behind: &bytes, write) }
        }
        if bytes.readableBytes > 0 { write(bytes) }
        return count
    }

    private static func put(_ part: ByteBuffer, behind bytes: inout ByteBuffer, _ write: (ByteBuffer) -> Void) {
        if part.readableBytes <= copyLimit {
            bytes.writeImmutableBuffer(part)
        } else {
            if bytes.readableBytes > 0 { write(bytes) }
            write(part)
            bytes = ByteBuffer()
        }
    }

    private var copiedSize: Int {
        frames.reduce(0) { size, frame in
            let body = frame.body.readableBytes
            return size + 4 + Frame.longestHeader + (body <= FrameWriter.copyLimit ? body : 0)
        }
    }
}
