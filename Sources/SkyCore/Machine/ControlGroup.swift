import Glibc
import Transport

/// One control group of processes. All that it does is done as far as it can be had: a worker without a group works as well.
package struct ControlGroup: Sendable {
    let folder: String

    /// One that is there.
    init(existing folder: String) { self.folder = folder }

    /// Makes it; `nil` where that is refused, as where somebody else's processes are in one of that name.
    init?(making folder: String) {
        // An empty one may be left of an earlier process.
        guard mkdir(folder, 0o755) == 0 || rmdir(folder) == 0 && mkdir(folder, 0o755) == 0 else { return nil }
        // Whoever looks after the machine may look into it, whatever this process's files are for.
        chmod(folder, 0o755)
        self.folder = folder
    }

    /// Moves a process into it.
    @discardableResult
    func add(_ process: pid_t) -> Bool { write("\(process)", to: "cgroup.procs") }

    /// Whether there are processes in it, and not only below it.
    var hasProcesses: Bool { KernelText.of(folder + "/cgroup.procs")?.isEmpty == false }

    /// Controllers that it shares out among those below it.
    var shared: [String] {
        KernelText.of(folder + "/cgroup.subtree_control")?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
    }

    /// Whether the kernel has killed one of its processes because there was no memory left, for it or for a group above.
    var hasRunOutOfMemory: Bool {
        let counts = KernelText.of(folder + "/memory.events")?.split(separator: "\n") ?? []
        return counts.contains { $0.hasPrefix("oom_kill ") && $0 != "oom_kill 0" }
    }

    /// SIGKILL to all that is in it, wherever its process group is (Linux 5.14).
    func kill() { write("1", to: "cgroup.kill") }

    /// Removes it. Blocks while processes in it are ending, half a second at most: one that stays, systemd removes with
    /// the service.
    func remove() {
        for _ in 1...50 {
            if rmdir(folder) == 0 || errno != EBUSY { return }
            usleep(10_000)
        }
    }

    /// Files here take one write each, and refuse by an error of it.
    @discardableResult
    func write(_ text: String, to name: String) -> Bool {
        let file = open("\(folder)/\(name)", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Glibc.write(file, text, text.utf8.count) == text.utf8.count
    }
}
