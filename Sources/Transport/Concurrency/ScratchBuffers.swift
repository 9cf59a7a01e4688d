import NIOCore

/// Buffers that nobody uses, for short messages on their way into an outbox: the message is copied there, and its memory serves
/// the next.
enum ScratchBuffers {
    private static let idle = BriefLock<[ByteBuffer]>([])

    /// How many are kept: more than most machines have threads. A buffer is held for moments.
    private static let countLimit = 64
    /// Memory that a buffer may have when it is kept, in bytes.
    private static let capacityLimit = 8 * 1024
    private static let firstCapacity = 256

    /// An empty buffer, which the caller has alone.
    static func take() -> ByteBuffer {
        idle.withLockedValue { $0.popLast() } ?? ByteBufferAllocator().buffer(capacity: firstCapacity)
    }

    /// Keeps the memory of a buffer. If somebody else has the buffer too, the next user gets other memory: a buffer does not write to
    /// what is shared.
    static func give(_ buffer: inout ByteBuffer) {
        guard (1...capacityLimit).contains(buffer.storageCapacity) else { return buffer = ByteBuffer() }
        var returned = ByteBuffer()
        swap(&returned, &buffer)
        returned.clear()
        idle.withLockedValue { idle in
            if idle.count < countLimit { idle.append(returned) }
        }
    }

    static func with<Result>(_ body: (inout ByteBuffer) throws -> Result) rethrows -> Result {
        var buffer = take()
        defer { give(&buffer) }
        return try body(&buffer)
    }
}
