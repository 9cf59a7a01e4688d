import CLinux
import Glibc
import Transport

/// Memory of this process that it does not need now.
package enum SpareMemory {
    /// Has glibc keep less of what the process has let go of; to be called before there are threads. By itself glibc has up to
    /// eight heaps for every processor, one for each thread as long as there are any left, and what one thread has used once
    /// is of no use to the others. And once a large block has been freed it puts blocks of its size into the heaps, where
    /// small ones that live long come to lie between them.
    package static func keepHeapsSmall() {
        mallopt(M_ARENA_MAX, 2)
        mallopt(M_MMAP_THRESHOLD, 128 * 1024)
    }

    /// Gives it to the machine.
    static func giveBack() {
        // glibc does so by itself only for what lies at the end of its heaps.
        malloc_trim(0)
        for range in unchanged(in: KernelText.of("/proc/self/smaps") ?? "") {
            // Pages of a file that nobody has written to: what is run again is mapped again, from memory as a rule.
            madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
    }

    /// The program's own code and constants and those of its libraries, of which a start needs far more than what follows. None
    /// that has a page of this process's own, in memory or swapped out: constants are changed when the program is loaded, and
    /// code by a debugger.
    ///
    /// - Parameter maps: as `/proc/PID/smaps` has them (proc(5)).
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
            // Both must have been told of. Of a file without code nobody knows what it is for.
            ["r-xp", "r--p"].contains(mapping.rights) && mapping.ownPages == [true, true]
                && programs.contains(mapping.path)
        }.map(\.range)
    }

    private struct Mapping {
        var range: Range<UInt>
        var rights: Substring
        var path: String
        /// Of those in memory and those swapped out: whether there are none.
        var ownPages: [Bool] = []

        /// From the first line about it: addresses, rights, offset, device, inode, path.
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
