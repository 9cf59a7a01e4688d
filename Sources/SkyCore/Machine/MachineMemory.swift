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

    /// The smallest limit of the control groups that this process is in; `nil` where none has a limit. Without a limit, version 1
    /// names a number that no machine has.
    private static var groupLimit: UInt64? {
        ControlGroupPaths.ofThisProcess.folders(of: "memory").compactMap { folder in
            let text = KernelText.of(folder + "/memory.max") ?? KernelText.of(folder + "/memory.limit_in_bytes")
            return text.flatMap { UInt64($0.prefix { $0.isNumber }) }
        }.min()
    }
}
