package import Base
import CLinux
import Glibc

/// A ruleset of Landlock (landlock(7)): what a process, and all processes that it starts, may still do with files. A daemon makes
/// it once and hands it to each worker, which takes it on.
package final class LandlockRuleset: Sendable {
    /// What is allowed below a folder.
    package enum Access {
        /// Files can be read and folders listed.
        case read
        /// Files can be read if their names are known.
        case readFiles
    }

    /// The descriptor of the ruleset.
    package let descriptor: Int32

    /// Makes a ruleset that denies whatever the kernel can deny with a version of Landlock's interface.
    ///
    /// - Throws: `SkyError` if the kernel makes none.
    package init(version: Int) throws(SkyError) {
        var attributes = linux_landlock_ruleset(
            handled_access_fs: LandlockRuleset.files(version), handled_access_net: version >= 4 ? 3 : 0,
            scoped: version >= 6 ? 3 : 0)
        // A kernel that knows less refuses a longer structure only if what it does not know is not 0.
        descriptor = linux_landlock_create_ruleset(&attributes, MemoryLayout<linux_landlock_ruleset>.size)
        guard descriptor >= 0 else {
            throw SkyError(.failed, "the kernel makes no Landlock ruleset: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// The rights to files that a version knows (the kernel's Documentation/userspace-api/landlock.rst): 13 in the first one,
    /// links and renames into other folders in the second, cutting short in the third, and ioctl of devices in the fifth.
    private static func files(_ version: Int) -> UInt64 {
        let count =
            switch version {
            case ...1: 13
            case 2: 14
            case 3, 4: 15
            default: 16
            }
        return (1 << count) - 1
    }

    /// LANDLOCK_ACCESS_FS_READ_FILE and LANDLOCK_ACCESS_FS_READ_DIR, which are numbers that Swift does not import.
    private static let (readFile, readFolder): (UInt64, UInt64) = (1 << 2, 1 << 3)

    /// Allows what `access` says to a file, or to all files below a folder.
    ///
    /// - Returns: whether the file or folder exists and the rule was taken.
    @discardableResult
    package func allow(_ path: String, _ access: Access) -> Bool {
        // O_PATH does not read the file and does not wait for anybody.
        let place = open(path, CInt(LandlockRuleset.openPath) | O_CLOEXEC)
        guard place >= 0 else { return false }
        defer { close(place) }
        var status = stat()
        guard fstat(place, &status) == 0 else { return false }
        // A rule for a file must not have the rights of folders.
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        let rights =
            isFolder && access == .read
            ? LandlockRuleset.readFile | LandlockRuleset.readFolder : LandlockRuleset.readFile
        return linux_landlock_allow(descriptor, place, rights) == 0
    }

    /// O_PATH of <fcntl.h>, which is declared with _GNU_SOURCE only; the number is the same on all architectures of Linux
    /// that this program is built for.
    private static let openPath = 0o10_000_000
}
