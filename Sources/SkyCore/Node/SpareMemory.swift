import Glibc
import Transport

/// Memory of this process that it does not need now.
package enum SpareMemory {
    /// Has glibc keep less of what the process has let go of; to be called before there are threads. By itself glibc has up to
    /// eight heaps for every processor, one for each thread as long as there are any left, and what one thread has used once
    /// is of no use to the others. And once a large block has been freed it puts blocks of its size into the heaps, where
    /// small ones that live long come to lie between them.
    package static func keepHeapsSmall() {
        typealias Option = @convention(c) (Int32, Int32) -> Int32
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let set = unsafeBitCast(symbol, to: Option.self)
        _ = set(arenaLimit, 2)
        _ = set(mappingThreshold, 128 * 1024)
    }

    /// M_ARENA_MAX and M_MMAP_THRESHOLD of malloc.h, which Swift's module map of glibc does not show.
    private static let arenaLimit: Int32 = -8
    private static let mappingThreshold: Int32 = -3

    /// Gives it to the machine.
    static func giveBack() {
        trimHeap()
        for range in unchanged(in: KernelText.of("/proc/self/smaps") ?? "") {
            // Pages of a file that nobody has written to: what is run again is mapped again, from memory as a rule.
            madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
    }

    /// malloc_trim(3). glibc does so by itself only for what lies at the end of
    /// its heaps.
    private static func trimHeap() {
        typealias Trim = @convention(c) (Int) -> Int32
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }

    /// The program's own code and constants and those of its libraries, of which a start needs far more than what follows. None
    /// that has a page of this process's own in it: constants are changed when the program is loaded, and code by a debugger.
    ///
    /// - Parameter maps: as `/proc/PID/smaps` has them (proc(5)).
    static func unchanged(in maps: String) -> [Range<UInt>] {
        var ranges: [Range<UInt>] = []
        var current: Range<UInt>?
        for line in maps.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard let first = words.first else { continue }
            if first.hasSuffix(":") {
                if first == "Anonymous:" {
                    if let current, words.count > 1, words[1] == "0" { ranges.append(current) }
                    current = nil
                }
                continue
            }
            current = nil
            let ends = first.split(separator: "-").compactMap { UInt($0, radix: 16) }
            // Addresses, rights, offset, device, inode, path.
            guard ends.count == 2, ends[0] < ends[1], words.count >= 6, ["r-xp", "r--p"].contains(words[1]),
                words[5].hasPrefix("/")
            else { continue }
            current = ends[0]..<ends[1]
        }
        return ranges
    }
}
