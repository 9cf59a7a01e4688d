import Base
import Glibc

/// Memory for a large rectangle of which little is written: pages that nobody writes to take no room.
///
/// A trail across a frame of a hundred million pixels is a few hundred thousand of them.
final class ZeroedMemory<Element: BitwiseCopyable> {
    /// All bits 0. As long as this object lives.
    let start: UnsafeMutablePointer<Element>

    /// - Throws: `.failed` where this worker has too little memory: another may have more.
    init(count: Int) throws(SkyError) {
        guard let memory = calloc(max(count, 1), MemoryLayout<Element>.stride) else {
            throw SkyError(
                .failed, "not enough memory for \(count) pixels at a time; a larger worker-memory would have it")
        }
        start = memory.bindMemory(to: Element.self, capacity: max(count, 1))
    }

    deinit { free(start) }
}
