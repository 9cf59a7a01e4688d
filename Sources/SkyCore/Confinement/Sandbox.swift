package import Base
import CLinux
import Glibc

/// The confinement of a worker process, which reads files of strangers with C libraries. If such a file takes the process over, it
/// can do no more than this.
package enum Sandbox {
    /// Before anything else is done, and before there is a second thread, because Landlock confines the thread that asks for it and
    /// those that it starts: no rights by programs with the set-user-ID bit, no files but those of the ruleset, and only the
    /// system calls that a worker makes.
    ///
    /// - Parameter hasGate: whether the daemon holds this process back until it hands over a ruleset (`StartGate`).
    /// - Throws: `SkyError` if the kernel has what is needed and refuses it, or the daemon is gone. The worker must not go on then.
    package static func enter(hasGate: Bool) throws(SkyError) {
        let ruleset = hasGate ? try StartGate.wait() : nil
        guard linux_prctl(PR_SET_NO_NEW_PRIVS, 1) == 0 else { throw failure("no new privileges") }
        try giveUpCapabilities()
        if let ruleset {
            guard linux_landlock_restrict_self(ruleset) == 0 else { throw failure("Landlock") }
            close(ruleset)
        }
        if ConfinementSupport.kernelHasFilter { try SystemCallFilter.beforeLink().install() }
    }

    /// When the link to the daemon is up: no further link, no executable memory. Concerns all threads.
    ///
    /// - Throws: as `enter`.
    package static func seal() throws(SkyError) {
        if ConfinementSupport.kernelHasFilter { try SystemCallFilter.linked().install() }
    }

    /// A worker of root keeps the right to read everybody's images, and no other right of root.
    private static func giveUpCapabilities() throws(SkyError) {
        var permitted: UInt64 = 0
        guard linux_permitted_capabilities(&permitted) == 0 else { throw failure("capabilities") }
        // In a container root often has only the right to read and write everybody's files.
        let kept = permitted & (1 << readSearch) != 0 ? 1 << readSearch : permitted & (1 << override)
        // A service that has no rights of root may not even be allowed to give them up.
        guard kept == permitted || linux_keep_capabilities(kept) == 0 else { throw failure("capabilities") }
    }

    /// CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH (capabilities(7)).
    private static let (override, readSearch): (UInt64, UInt64) = (1, 2)

    private static func failure(_ what: String) -> SkyError {
        SkyError(.failed, "the worker cannot be confined (\(what)): \(String(cString: strerror(errno)))")
    }
}
