import NIOCore

/// Cuts the bytes of a connection into messages: a `UInt32` length, then so many bytes.
struct MessageCutter {
    private var buffer = ByteBuffer()

    mutating func append(_ bytes: consuming ByteBuffer) {
        if buffer.readableBytes == 0 {
            buffer = bytes
            return
        }
        buffer.discardReadBytes()
        // The buffer gets room for the whole message at once, instead of doubling towards it.
        if let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) {
            buffer.reserveCapacity(4 + Int(length))
        }
        buffer.writeBuffer(&bytes)
    }

    /// The next whole message, its length in front.
    mutating func next() -> ByteBuffer? {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return nil }
        return buffer.readSlice(length: 4 + Int(length))
    }
}
