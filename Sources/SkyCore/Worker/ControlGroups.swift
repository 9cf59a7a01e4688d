package import Glibc
import Transport

/// The control group (cgroups(7), version 2) that systemd has handed over to this process by `Delegate=`, with a group below it
/// for the daemon and one for each worker: so that the daemon has its share of the processor whatever the workers do, and
/// each worker's memory is bounded and told (`systemd-cgtop`).
package struct ControlGroups: Sendable {
    /// The folder of the group that is ours.
    package let folder: String

    /// What is shared out below it, where the machine has it.
    private static let controllers = ["cpu", "memory", "pids"]
    /// Of the daemon, to a worker's 100: what it needs is little, and to be had at once.
    private static let daemonWeight = 1000

    /// Moves the process into a group below its own, because a group that has processes itself cannot share out.
    ///
    /// - Parameters:
    ///   - process: this one, where it is not a test's.
    ///   - root: where the groups' file system is mounted.
    /// - Returns: `nil` where the process's group is not its own, or groups are of version 1.
    package static func takeOver(process: pid_t = getpid(), root: String = "/sys/fs/cgroup") -> ControlGroups? {
        guard let path = path(of: process) else { return nil }
        let folder = root + path
        guard isDelegated(folder), let daemon = ControlGroup(folder: folder + "/daemon"), daemon.add(process) else {
            return nil
        }
        for controller in controllers { ControlGroup.write("+\(controller)", to: folder + "/cgroup.subtree_control") }
        ControlGroup.write("\(daemonWeight)", to: daemon.folder + "/cpu.weight")
        return ControlGroups(folder: folder)
    }

    /// Of the group of version 2 that a process is in, from its hierarchy's root: `/system.slice/skynode.service`.
    static func path(of process: pid_t = getpid()) -> Substring? {
        // One line a hierarchy; that of version 2 has the number 0 and no controllers' names.
        let lines = KernelText.of("/proc/\(process)/cgroup")?.split(separator: "\n")
        return lines?.first { $0.hasPrefix("0::/") }?.dropFirst(3)
    }

    /// systemd marks what it hands over, from version 251 on, in a way that everybody may read.
    private static func isDelegated(_ folder: String) -> Bool {
        // getxattr(2), which Swift's module map of glibc does not show.
        typealias GetAttribute =
            @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer, Int) -> Int
        guard let symbol = dlsym(nil, "getxattr") else { return false }
        var value: UInt8 = 0
        let count = unsafeBitCast(symbol, to: GetAttribute.self)(folder, "user.delegate", &value, 1)
        return count == 1 && value == UInt8(ascii: "1")
    }

    /// A group for a worker.
    ///
    /// - Parameter memory: the bytes that it may have.
    func group(named name: String, memory: UInt64) -> ControlGroup? {
        guard let group = ControlGroup(folder: "\(folder)/\(name)") else { return nil }
        ControlGroup.write("\(memory)", to: group.folder + "/memory.max")
        return group
    }
}

/// One group of processes. All that it does is done as far as it can be had: a worker without a group works as well.
package struct ControlGroup: Sendable {
    let folder: String

    /// Makes it; `nil` where that is refused.
    init?(folder: String) {
        guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { return nil }
        self.folder = folder
    }

    /// Moves a process into it.
    @discardableResult
    func add(_ process: pid_t) -> Bool { ControlGroup.write("\(process)", to: folder + "/cgroup.procs") }

    /// SIGKILL to all that is in it, wherever its process group is.
    func kill() { ControlGroup.write("1", to: folder + "/cgroup.kill") }

    /// Removes it. Blocks while processes in it are ending, half a second at most: one that stays, systemd removes with
    /// the service.
    func remove() {
        for _ in 1...50 where rmdir(folder) != 0 && errno == EBUSY { usleep(10_000) }
    }

    /// Files here take one write each, and refuse by an error of it.
    @discardableResult
    fileprivate static func write(_ text: String, to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Glibc.write(file, text, text.utf8.count) == text.utf8.count
    }
}
