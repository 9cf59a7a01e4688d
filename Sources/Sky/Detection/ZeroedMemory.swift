import Base
import Glibc
import NIOConcurrencyHelpers

/// Memory for a large rectangle with few writes. Pages without a write take no memory.
///
/// A trail across a frame of a hundred million pixels has a few hundred thousand of them. Of the blocks of a sector's size, the
/// last few are kept for the next use. Their last user has cleared all that it wrote, which is faster than to have the kernel
/// make and clear all pages again.
final class ZeroedMemory<Element: BitwiseCopyable> {
    /// The start of the memory, whose bits are all 0 at first. The pointer is valid as long as this object exists.
    let start: UnsafeMutablePointer<Element>
    private let block: ZeroedBlock
    private var isClear = false

    /// - Throws: `.failed` if this worker has too little memory; another worker may have more.
    init(count: Int) throws(SkyError) {
        guard let block = ZeroedBlock.take(bytes: max(count, 1) * MemoryLayout<Element>.stride) else {
            throw SkyError(
                .failed, "not enough memory for \(count) pixels at a time; a larger worker-memory would have it")
        }
        self.block = block
        start = block.start.bindMemory(to: Element.self, capacity: max(count, 1))
    }

    /// Marks the memory as clear. Call it at the end, when all that was written is 0 again.
    func isCleared() { isClear = true }

    deinit { block.giveBack(isClear: isClear) }
}

/// A block of bytes that are all 0.
private struct ZeroedBlock: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    let size: Int

    /// The blocks that are not in use. A block belongs to the caller that takes it from here, so it may change threads.
    private static let kept = NIOLockedValueBox<[ZeroedBlock]>([])
    /// A sector scan uses two blocks at a time; blocks for more than a sector of 2048 with its margin are rare.
    private static let limit = (blocks: 2, bytes: 20 << 20)

    static func take(bytes: Int) -> ZeroedBlock? {
        let known = kept.withLockedValue { kept in
            kept.lastIndex { $0.size >= bytes && $0.size / 4 <= bytes }.map { kept.remove(at: $0) }
        }
        if let known { return known }
        if let start = calloc(bytes, 1) { return ZeroedBlock(start: start, size: bytes) }
        // The kept blocks may take the memory that is missing.
        kept.withLockedValue { kept in
            for block in kept { free(block.start) }
            kept = []
        }
        return calloc(bytes, 1).map { ZeroedBlock(start: $0, size: bytes) }
    }

    func giveBack(isClear: Bool) {
        let isKept =
            isClear && size <= ZeroedBlock.limit.bytes
            && ZeroedBlock.kept.withLockedValue { kept in
                if kept.count >= ZeroedBlock.limit.blocks { free(kept.removeFirst().start) }
                kept.append(self)
                return true
            }
        if !isKept { free(start) }
    }
}
