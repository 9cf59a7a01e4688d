import DequeModule
import NIOCore
import NIOPosix

/// Memory of one event loop that serves one write after the other, and one long body after the other. The pages of a large block that
/// is taken anew have to be made and cleared by the kernel, which takes longer than to fill them. It lives on the loop.
final class LoopMemory {
    /// Blocks that were given out before, the oldest first, which is the most likely to be free. Somebody may use them still.
    private var small: Deque<ByteBuffer> = []
    private var large: Deque<ByteBuffer> = []
    private let loop: any EventLoop

    /// Blocks of either kind that are kept.
    private static let countLimit = 8
    /// Blocks of more bytes than this are large.
    private static let smallLimit = 64 * 1024
    /// The largest block that is kept, in bytes. So a loop keeps 16 MiB at most.
    private static let sizeLimit = 2 * 1024 * 1024

    /// Each thread has its own, so that nothing is shared.
    nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<LoopMemory>()

    private init(_ loop: any EventLoop) {
        self.loop = loop
    }

    /// The memory of a loop, for a caller on that loop.
    static func of(_ loop: any EventLoop) -> LoopMemory {
        loop.preconditionInEventLoop()
        // Loops of tests may share a thread.
        if let memory = ofThread.currentValue, memory.loop === loop { return memory }
        let memory = LoopMemory(loop)
        ofThread.currentValue = memory
        return memory
    }

    /// An empty buffer with room for so many bytes, which the caller has alone: where the block that is its turn is still used, its
    /// user keeps it, and the buffer gets other memory.
    func take(_ capacity: Int) -> ByteBuffer {
        // A larger block would not be kept afterwards.
        guard capacity <= LoopMemory.sizeLimit else { return ByteBufferAllocator().buffer(capacity: capacity) }
        var buffer = (capacity > LoopMemory.smallLimit ? large.popFirst() : small.popFirst()) ?? ByteBuffer()
        buffer.clear(minimumCapacity: capacity)
        return buffer
    }

    /// Remembers the memory of a buffer that is filled and will be let go some time.
    func keep(_ buffer: ByteBuffer) {
        switch buffer.storageCapacity {
        case 0: break
        case ...LoopMemory.smallLimit: if small.count < LoopMemory.countLimit { small.append(buffer) }
        case ...LoopMemory.sizeLimit: if large.count < LoopMemory.countLimit { large.append(buffer) }
        default: break
        }
    }
}
