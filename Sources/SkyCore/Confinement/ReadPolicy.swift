import Base
import Glibc

/// What a node's workers may read: images wherever they are, but no keys, journals and private files.
///
/// Rules of Landlock only allow. So a folder with something secret below it is not allowed as a whole; everything that is in
/// it at the moment is, one by one, except what leads to the secret.
package struct ReadPolicy: Hashable, Sendable {
    /// Below these folders a worker may read; everywhere if there are none.
    package var folders: [String] = []
    /// Files and folders that no worker may read, whatever the folders are: the node's key, its tokens, its journal.
    package var secrets: [String] = []

    /// The folder of files that commands have sent to the node, which lies among the secrets; `nil` if there is none.
    package var inputs: String?

    /// The home of the node's user, in which there are private files.
    package var home = Account.home

    package init() {}

    /// The places where there are no images, and the private files of the person whose node it is. `folders` may name places in
    /// them.
    static func privatePlaces(home: String?, isRoot: Bool) -> [String] {
        var homes = home.map { [$0] } ?? []
        // What others keep in their homes is kept from everybody else by its mode, and not from root.
        if isRoot { homes += ["/root"] + (FolderEntry.all(in: "/home") ?? []).map { "/home/" + $0.text } }
        return systemPlaces + homes.flatMap { home in privateNames.map { home + "/" + $0 } }
    }

    /// Devices, the kernel's settings, the machine's passwords and keys, the sockets and secrets of services; and the journals of
    /// this machine's nodes.
    private static let systemPlaces = ["/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/var/lib/skynode"]

    /// Where programs keep keys, passwords and what somebody typed. `.cache` and `.astropy` are not among them, because there
    /// are images in them.
    private static let privateNames = [
        ".aws", ".azure", ".bash_history", ".config", ".docker", ".git-credentials", ".gnupg", ".kube",
        ".local/share/keyrings", ".local/state", ".mozilla", ".netrc", ".password-store", ".pgpass", ".pki", ".pypirc",
        ".python_history", ".ssh", ".thunderbird", ".zsh_history",
    ]

    /// The files that the C library, the Swift runtime and NIO read in a worker: the numbers of processors, of threads, the time
    /// zone. `/proc` can be read and not listed. What others' processes have open or in memory is there, too, and the kernel
    /// denies a confined process to look at it (landlock(7), "Ptrace restrictions").
    static let runtimeFiles = [
        "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero", "/etc/localtime", "/proc", "/sys/devices/system/cpu",
        "/sys/fs/cgroup",
    ]

    /// Places below the system's where there are images nevertheless: memory that is used as a disk, and disks of a desktop's user.
    static let imagePlaces = ["/dev/shm", "/run/media"]
}
