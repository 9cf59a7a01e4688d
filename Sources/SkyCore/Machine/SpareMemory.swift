import CLinux
import Glibc
import Transport

/// Memory of this process that it does not need now.
package enum SpareMemory {
    /// Makes glibc keep less of the memory that the process has freed. Call it before there are threads. By default glibc has up to
    /// eight heaps for every processor, and gives each new thread its own heap while there are any left. Memory that one thread has
    /// used is of no use to the others then. And once a very large block has been freed, glibc puts blocks of that size into the
    /// heaps, where small blocks that live long end up between them.
    ///
    /// The results of a scan are blocks of a megabyte or two, and are copied several times on their way. The heaps keep room for
    /// some of them: when each copy was a new block of the kernel's, to be cleared page by page, four images of 2048 by 2048 pixels
    /// took 8 % longer. `giveBack` returns that room.
    package static func keepHeapsSmall() {
        mallopt(M_ARENA_MAX, 2)
        mallopt(M_MMAP_THRESHOLD, 4 << 20)
        mallopt(M_TRIM_THRESHOLD, keptAtEnd)
    }

    /// Bytes that each heap may keep at its end.
    private static let keptAtEnd: CInt = 16 << 20
    /// More threads, one after the other, than `keepHeapsSmall` leaves heaps, so that each heap has one of them.
    private static let threadsForAllHeaps = 8

    /// Makes glibc keep the memory that the process has freed, for its next blocks. By default the large blocks of a sector go back
    /// to the kernel after each sector, which has to clear new pages for the next one. That took 7 % of the processor time of a scan
    /// of 2048 by 2048 pixels. It is meant for workers, which end a while after their node has had work.
    package static func keepLargeBlocks() {
        // The largest value that glibc accepts (mallopt(3)). A larger block is rare, and goes back to the machine at once.
        mallopt(M_MMAP_THRESHOLD, 32 << 20)
        mallopt(M_TRIM_THRESHOLD, 256 << 20)
    }

    /// Gives the spare memory back to the machine. Not for a thread that others wait for. Without `keepHeapsSmall` before, a machine of
    /// many processors has more heaps than it reaches.
    static func giveBack() {
        for range in unchanged(in: KernelText.of("/proc/self/smaps") ?? "") {
            // These are pages of a file that nobody has written to. Code that runs again is mapped again, usually from memory.
            madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
        giveBackEndsOfHeaps()
        // By itself glibc gives back only the memory at the end of its heaps. This is the last step, because the others need memory.
        malloc_trim(0)
    }

    /// `malloc_trim` leaves the end of each heap but the first alone. glibc looks at it when a large block of that heap is freed, which
    /// takes a thread with that heap; a new thread gets the next heap in turn.
    private static func giveBackEndsOfHeaps() {
        mallopt(M_TRIM_THRESHOLD, 128 << 10)
        defer { mallopt(M_TRIM_THRESHOLD, keptAtEnd) }
        for _ in 0..<threadsForAllHeaps {
            var thread = pthread_t()
            let isStarted = pthread_create(
                &thread, nil,
                { _ in
                    let block = malloc(256 << 10)
                    // Without a use of it, the compiler leaves the block out.
                    _ = malloc_usable_size(block)
                    free(block)
                    return nil
                }, nil)
            if isStarted == 0 { pthread_join(thread, nil) }
        }
    }

    /// The mappings with the code and constants of the program and its libraries. A start needs far more of them than the work that
    /// follows. Mappings that have a page of this process's own, in memory or swapped out, are left out: constants are changed when
    /// the program is loaded, and code by a debugger.
    ///
    /// - Parameter maps: the text of `/proc/PID/smaps` (proc(5)).
    static func unchanged(in maps: String) -> [Range<UInt>] {
        var mappings: [Mapping] = []
        for line in maps.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            if words.count > 1, words[0] == "Anonymous:" || words[0] == "Swap:", !mappings.isEmpty {
                mappings[mappings.count - 1].ownPages.append(words[1] == "0")
            } else if let mapping = Mapping(words) {
                mappings.append(mapping)
            }
        }
        let programs = Set(mappings.filter { $0.rights == "r-xp" && !$0.path.isEmpty }.map(\.path))
        return mappings.filter { mapping in
            // The kernel must have reported both numbers. A file without code is left alone, because its purpose is not known.
            ["r-xp", "r--p"].contains(mapping.rights) && mapping.ownPages == [true, true]
                && programs.contains(mapping.path)
        }.map(\.range)
    }

    private struct Mapping {
        var range: Range<UInt>
        var rights: Substring
        var path: String
        /// Whether there are no own pages in memory, and whether there are none swapped out.
        var ownPages: [Bool] = []

        /// Reads the first line about a mapping: addresses, rights, offset, device, inode, path.
        init?(_ words: [Substring]) {
            guard let first = words.first, !first.hasSuffix(":") else { return nil }
            let ends = first.split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2, ends[0] < ends[1], words.count > 1 else { return nil }
            range = ends[0]..<ends[1]
            rights = words[1]
            path = words.dropFirst(5).joined(separator: " ")
            if !path.hasPrefix("/") { path = "" }
        }
    }
}
