import CLinux
import Glibc

/// What this machine's kernel has for the confinement of worker processes.
package struct ConfinementSupport: Hashable, Sendable {
    /// The version of Landlock's interface (landlock(7)); 0 where the kernel has none, or does not let this process use it.
    package var landlock: Int
    /// Whether a filter of system calls can be installed (seccomp(2)).
    package var hasFilter: Bool

    package init(landlock: Int, hasFilter: Bool) { (self.landlock, self.hasFilter) = (landlock, hasFilter) }

    /// What the kernel answers now.
    package static var ofThisMachine: ConfinementSupport {
        ConfinementSupport(landlock: max(0, Int(linux_landlock_abi())), hasFilter: kernelHasFilter)
    }

    /// Whether the kernel has filters of system calls.
    static var kernelHasFilter: Bool {
        var action = UInt32(SECCOMP_RET_ERRNO)
        return linux_seccomp(UInt32(SECCOMP_GET_ACTION_AVAIL), 0, &action) == 0
    }

    /// What workers can do on this machine because the kernel lacks something. Empty where it has everything.
    package var gaps: [String] {
        var gaps: [String] = []
        if landlock == 0 {
            gaps.append("the kernel has no Landlock: a worker can read whatever this node's user can")
        }
        if !hasFilter { gaps.append("the kernel has no seccomp: a worker can make every system call") }
        return gaps
    }
}
