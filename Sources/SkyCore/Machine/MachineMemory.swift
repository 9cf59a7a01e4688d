import Glibc
import Transport

/// The memory that this process may count on.
package enum MachineMemory {
    /// The memory in bytes: that of the machine, or the limit of the control group where that is less.
    package static var total: UInt64 {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        let machine = pages > 0 ? UInt64(pages) * UInt64(sysconf(Int32(_SC_PAGESIZE))) : 1 << 30
        return min(machine, groupLimit ?? machine)
    }

    /// The memory in bytes that a worker process may have when `slots` of them work at once: an equal share, and at least 2 GiB of
    /// addresses, because the runtime reserves a good part of them without using it.
    package static func shareOfWorker(among slots: Int) -> UInt64 {
        max(2 << 30, total / UInt64(max(1, slots)))
    }

    /// The smallest `memory.max` of the control group that this process is in (cgroup v2) and of the groups above it; `nil` where
    /// none has a limit.
    private static var groupLimit: UInt64? {
        guard var path = ControlGroups.path() else { return nil }
        var limit: UInt64?
        while true {
            let value = KernelText.of("/sys/fs/cgroup\(path)/memory.max").flatMap {
                UInt64($0.prefix { $0.isNumber })
            }
            if let value { limit = min(limit ?? value, value) }
            guard let slash = path.lastIndex(of: "/"), path.count > 1 else { return limit }
            path = path[..<slash]
        }
    }
}
