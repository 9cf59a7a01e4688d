import CAllocationCount
import Foundation

/// What this process holds at a moment.
struct Vitals: Sendable {
    /// Memory that is resident, in bytes.
    var memory: Int
    /// Open file descriptors.
    var descriptors: Int
    var threads: Int
    /// Blocks of the allocator in use beyond those of the start of the count. Every task, continuation, channel and
    /// actor system is at least one, so none of them can be left behind without being seen here.
    var blocks: Int

    /// - Throws: an error of the system where `/proc` cannot be read.
    static func now() throws -> Vitals {
        // Memory that the allocator only keeps for later belongs to nobody.
        allocation_trim()
        // The fields are numbers of pages: total, resident, ... (proc(5)).
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        let resident = pages.count > 1 ? Int(pages[1]) ?? 0 : 0
        return Vitals(
            memory: resident * sysconf(Int32(_SC_PAGESIZE)),
            descriptors: try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count,
            threads: try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count,
            blocks: Int(allocation_count_live()))
    }
}
