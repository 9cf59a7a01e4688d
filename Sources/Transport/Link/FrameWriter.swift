import NIOCore

/// Turns what waits on a link into as few writes as make sense: small frames share a buffer, long bodies are written
/// as they are, without a copy.
struct FrameWriter {
    /// Bytes taken from the outbox at once. A control frame that comes in meanwhile waits for no more than these.
    static let batchSize = 256 * 1024
    /// Bodies up to this size are copied behind their header: a copy of a few kilobytes is cheaper than a write.
    static let copyLimit = 8 * 1024

    private var batch = OutgoingBatch()

    /// Writes one batch, in order.
    ///
    /// - Parameters:
    ///   - memory: that of the link's event loop.
    ///   - write: writes some bytes.
    /// - Returns: how many bytes it had; 0 where nothing can be sent now.
    mutating func write(from link: Link, _ memory: LoopMemory, _ write: (ByteBuffer) -> Void) -> Int {
        link.takeFrames(&batch, bytes: FrameWriter.batchSize)
        guard !batch.isEmpty else { return 0 }
        defer { batch.clear() }
        var bytes = memory.take(copiedSize)
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
                switch frame.tail?.bytes {
                case .buffer(let tail): FrameWriter.put(tail, behind: &bytes, write)
                case .array: frame.tail?.write(into: &bytes)
                case nil: break
                }
            }
        }
        if bytes.readableBytes > 0 { write(bytes) }
        memory.keep(bytes)
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
            var size = size + 4 + Frame.longestHeader
            if frame.body.readableBytes <= FrameWriter.copyLimit { size += frame.body.readableBytes }
            if case .array(_, let start, let end) = frame.tail?.bytes { size += end - start }
            return size
        }
    }
}
