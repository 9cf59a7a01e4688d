import NIOCore

/// Turns what waits on a link into as few writes as make sense: small frames share a buffer, long bodies are written
/// as they are, without a copy.
struct FrameWriter {
    /// Bytes taken from the outbox at once. A control frame that comes in meanwhile waits for no more than these.
    static let batchSize = 256 * 1024
    /// Bodies up to this size are copied behind their header: a copy of a few kilobytes is cheaper than a write.
    static let copyLimit = 8 * 1024

    /// Memory for a write that is kept for the next, in bytes.
    private static let idleCapacity = 32 * 1024

    private var batch = OutgoingBatch()
    /// The memory of the write before.
    private var idle = ByteBuffer()

    /// Writes one batch, in order.
    ///
    /// - Returns: how many bytes it had; 0 where nothing can be sent now.
    mutating func write(from link: Link, _ write: (ByteBuffer) -> Void) -> Int {
        link.takeFrames(&batch, bytes: FrameWriter.batchSize)
        guard !batch.isEmpty else { return 0 }
        defer { batch.clear() }
        // If the channel still has the memory of the write before, this is other memory: a buffer does not write to what is shared.
        var bytes = ByteBuffer()
        swap(&bytes, &idle)
        bytes.clear(minimumCapacity: copiedSize)
        var count = 0
        var shortStart = 0
        for part in batch.parts {
            switch part {
            case .shorts(let size):
                count += size
                _ = batch.shortBytes.withUnsafeBytes { shorts in
                    bytes.writeBytes(UnsafeRawBufferPointer(rebasing: shorts[shortStart..<shortStart + size]))
                }
                shortStart += size
            case .frame(let frame):
                count += 4 + frame.length
                frame.writeHeader(into: &bytes)
                FrameWriter.put(frame.body, behind: &bytes, write)
                if let tail = frame.tail, tail.readableBytes > 0 { FrameWriter.put(tail, behind: &bytes, write) }
            }
        }
        if bytes.readableBytes > 0 { write(bytes) }
        if bytes.storageCapacity <= FrameWriter.idleCapacity { idle = bytes }
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
        batch.parts.reduce(batch.shortBytes.count) { size, part in
            guard case .frame(let frame) = part else { return size }
            let body = frame.body.readableBytes
            return size + 4 + Frame.longestHeader + (body <= FrameWriter.copyLimit ? body : 0)
        }
    }
}
