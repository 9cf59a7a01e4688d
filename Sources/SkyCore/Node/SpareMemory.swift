import Foundation
import Glibc

/// Memory of this process that it does not need now.
enum SpareMemory {
    /// Gives it to the machine.
    static func giveBack() {
        trimHeap()
        for range in code(of: (try? String(contentsOfFile: "/proc/self/smaps", encoding: .utf8)) ?? "") {
            // Pages of a file that nobody has written to: what is run again is mapped again, from memory as a rule.
            madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
    }

    /// malloc_trim(3), which Swift's module map of glibc does not show. glibc does so by itself only for what lies at the end of
    /// its heaps.
    private static func trimHeap() {
        typealias Trim = @convention(c) (Int) -> Int32
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }

    /// The program's own code and that of its libraries, of which a start needs far more than what follows. None that has a page of
    /// this process's own in it, as where a debugger has set a breakpoint.
    ///
    /// - Parameter maps: as `/proc/PID/smaps` has them (proc(5)).
    static func code(of maps: String) -> [Range<UInt>] {
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
            guard ends.count == 2, ends[0] < ends[1], words.count >= 6, words[1] == "r-xp", words[5].hasPrefix("/")
            else { continue }
            current = ends[0]..<ends[1]
        }
        return ranges
    }
}
