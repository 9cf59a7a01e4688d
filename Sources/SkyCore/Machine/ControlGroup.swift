import Glibc
import Transport

/// One control group of processes. Errors are not fatal, because a worker also works without a group.
package struct ControlGroup: Sendable {
    let folder: String

    /// A group that exists.
    init(existing folder: String) { self.folder = folder }

    /// Makes the group. The result is `nil` where that is refused, for example because a group of that name has processes of
    /// somebody else.
    init?(making folder: String) {
        // An earlier process may have left an empty group.
        guard mkdir(folder, 0o755) == 0 || rmdir(folder) == 0 && mkdir(folder, 0o755) == 0 else { return nil }
        // Everybody on the machine may read the group, whatever mode this process uses for its files.
        chmod(folder, 0o755)
        self.folder = folder
    }

    /// Moves a process into the group.
    @discardableResult
    func add(_ process: pid_t) -> Bool { write("\(process)", to: "cgroup.procs") }

    /// Whether there are processes in the group itself, and not only in groups below it.
    var hasProcesses: Bool { KernelText.of(folder + "/cgroup.procs")?.isEmpty == false }

    /// The controllers that the group shares out among the groups below it.
    var shared: [String] {
        KernelText.of(folder + "/cgroup.subtree_control")?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
    }

    /// Whether the kernel has killed one of its processes because this group, or a group above it, had no memory left.
    var hasRunOutOfMemory: Bool {
        let counts = KernelText.of(folder + "/memory.events")?.split(separator: "\n") ?? []
        return counts.contains { $0.hasPrefix("oom_kill ") && $0 != "oom_kill 0" }
    }

    /// Sends SIGKILL to all processes in the group, whatever process group they belong to (Linux 5.14).
    func kill() { write("1", to: "cgroup.kill") }

    /// Removes the group. Blocks while processes in it are ending, for half a second at most. If a process stays longer, systemd
    /// removes the group together with the service.
    func remove() {
        for _ in 1...50 {
            if rmdir(folder) == 0 || errno != EBUSY { return }
            usleep(10_000)
        }
    }

    /// Writes to a file of the group. Such a file takes its text in one write, and that write fails where the kernel refuses it.
    @discardableResult
    func write(_ text: String, to name: String) -> Bool {
        let file = open("\(folder)/\(name)", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Glibc.write(file, text, text.utf8.count) == text.utf8.count
    }
}
