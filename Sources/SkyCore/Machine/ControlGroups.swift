import CLinux
import Glibc
import Transport

/// The control group (cgroups(7), version 2) that systemd has handed over to this process by `Delegate=`, with a group below it
/// for the daemon and one for each worker: so that the daemon has its share of the processor whatever the workers do, and
/// each worker's memory is bounded and told (`systemd-cgtop`).
package struct ControlGroups: Sendable {
    /// The folder of the group that is ours.
    package let folder: String
    /// What is shared out below it: of `controllers`, those that the machine has.
    package let shared: [String]

    private static let controllers = ["cpu", "memory", "pids"]
    /// Of the daemon, to a worker's 100: what it needs is little, and to be had at once.
    private static let daemonWeight = 1000
    /// What a worker's group may have of memory, by its address space: the pages of the files that it reads count as well, and
    /// are to stay for the next who reads them.
    private static let roomForPages: UInt64 = 2

    /// Moves the process into a group below its own, because a group that has processes itself cannot share out.
    ///
    /// - Parameters:
    ///   - process: this one, where it is not a test's.
    ///   - root: where the groups' file system is mounted.
    ///   - controllers: what to share out.
    /// - Returns: `nil` where the process's group was not handed over, where it is not alone in it, and where groups are of
    ///   version 1.
    package static func takeOver(
        process: Int32 = getpid(), root: String = "/sys/fs/cgroup", controllers: [String] = controllers
    ) -> ControlGroups? {
        guard let path = path(of: process) else { return nil }
        let whole = ControlGroup(existing: root + path)
        guard isDelegated(whole.folder), let daemon = ControlGroup(making: whole.folder + "/daemon") else { return nil }
        guard daemon.add(process), !whole.hasProcesses else {
            // What was handed over to a shell, or to several nodes, is none of ours.
            whole.add(process)
            daemon.remove()
            return nil
        }
        let shared = controllers.filter { whole.write("+\($0)", to: "cgroup.subtree_control") }
        daemon.write("\(daemonWeight)", to: "cpu.weight")
        return ControlGroups(folder: whole.folder, shared: shared)
    }

    /// Lets the group of a service take processes again. While something is shared out below it, it takes none (`EBUSY`): where a
    /// worker outlives SIGKILL, in the midst of a read from a disk that has died, the service could not be started again.
    ///
    /// - Parameter process: one that systemd has started for the service once it has ended: in `.control`, below the group.
    package static func giveBack(process: Int32 = getpid(), root: String = "/sys/fs/cgroup") {
        guard var path = path(of: process) else { return }
        if path.hasSuffix("/.control") { path = path.dropLast("/.control".count) }
        let whole = ControlGroup(existing: root + path)
        guard isDelegated(whole.folder) else { return }
        for controller in whole.shared { whole.write("-\(controller)", to: "cgroup.subtree_control") }
    }

    /// Of the group of version 2 that a process is in, from its hierarchy's root: `/system.slice/skynode.service`.
    static func path(of process: Int32 = getpid()) -> Substring? {
        // One line a hierarchy; that of version 2 has the number 0 and no controllers' names.
        let lines = KernelText.of("/proc/\(process)/cgroup")?.split(separator: "\n")
        return lines?.first { $0.hasPrefix("0::/") }?.dropFirst(3)
    }

    /// systemd marks what it hands over, from version 251 on, in a way that everybody may read.
    private static func isDelegated(_ folder: String) -> Bool {
        var value: UInt8 = 0
        return getxattr(folder, "user.delegate", &value, 1) == 1 && value == UInt8(ascii: "1")
    }

    /// A group for a worker. Blocks for as long as the kernel takes for it.
    ///
    /// - Parameter memory: the bytes of address space that it may have.
    func group(named name: String, memory: UInt64) -> ControlGroup? {
        guard let group = ControlGroup(making: "\(folder)/\(name)") else { return nil }
        let (bytes, isTooMuch) = memory.multipliedReportingOverflow(by: ControlGroups.roomForPages)
        if !isTooMuch { group.write("\(bytes)", to: "memory.max") }
        return group
    }
}
