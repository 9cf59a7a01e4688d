import CLinux
import Glibc
import Transport

/// The control group (cgroups(7), version 2) that systemd has handed over to this process by `Delegate=`. Below it there is one
/// group for the daemon and one for each worker. So the daemon has its share of the processor whatever the workers do, and each
/// worker's memory is bounded and shown (`systemd-cgtop`).
package struct ControlGroups: Sendable {
    /// The folder of the group that was handed over.
    package let folder: String
    /// The controllers that are shared out below it: those of `controllers` that the machine has.
    package let shared: [String]

    private static let controllers = ["cpu", "memory", "pids"]
    /// The weight of the daemon, where a worker has 100. The daemon needs little of the processor, but needs it at once.
    private static let daemonWeight = 1000
    /// The memory limit of a worker's group, as a multiple of the worker's address space. The pages of the files that it reads
    /// count as well, and should stay in memory for the next process that reads them.
    private static let roomForPages: UInt64 = 2

    /// Moves the process into a group below its own, because a group that has processes itself cannot share out controllers.
    ///
    /// - Parameters:
    ///   - process: this process, except in tests.
    ///   - root: the folder where the file system of the groups is mounted.
    ///   - controllers: the controllers to share out.
    /// - Returns: `nil` where the process's group was not handed over, where it is not alone in it, and where groups are of
    ///   version 1.
    package static func takeOver(
        process: Int32 = getpid(), root: String = "/sys/fs/cgroup", controllers: [String] = controllers
    ) -> ControlGroups? {
        guard let path = path(of: process) else { return nil }
        let whole = ControlGroup(existing: root + path)
        guard isDelegated(whole.folder), let daemon = ControlGroup(making: whole.folder + "/daemon") else { return nil }
        guard daemon.add(process), !whole.hasProcesses else {
            // A group that was handed over to a shell, or to several nodes, does not belong to this process alone.
            whole.add(process)
            daemon.remove()
            return nil
        }
        let shared = controllers.filter { whole.write("+\($0)", to: "cgroup.subtree_control") }
        daemon.write("\(daemonWeight)", to: "cpu.weight")
        return ControlGroups(folder: whole.folder, shared: shared)
    }

    /// Lets the group of a service take processes again. A group takes none (`EBUSY`) while it shares out controllers. Without this
    /// the service could not be started again if a worker outlives SIGKILL, because it is reading from a disk that has died.
    ///
    /// - Parameter process: a process that systemd has started for the service after the service ended. It is in the group
    ///   `.control` below the service's group.
    package static func giveBack(process: Int32 = getpid(), root: String = "/sys/fs/cgroup") {
        guard var path = path(of: process) else { return }
        if path.hasSuffix("/.control") { path = path.dropLast("/.control".count) }
        let whole = ControlGroup(existing: root + path)
        guard isDelegated(whole.folder) else { return }
        for controller in whole.shared { whole.write("-\(controller)", to: "cgroup.subtree_control") }
    }

    /// The path of the version 2 group that a process is in, from the root of its hierarchy: `/system.slice/skynode.service`.
    static func path(of process: Int32 = getpid()) -> Substring? {
        // There is one line for each hierarchy. The line of version 2 has the number 0 and no names of controllers.
        let lines = KernelText.of("/proc/\(process)/cgroup")?.split(separator: "\n")
        return lines?.first { $0.hasPrefix("0::/") }?.dropFirst(3)
    }

    /// From version 251 on, systemd marks the groups that it hands over with an attribute that everybody may read.
    private static func isDelegated(_ folder: String) -> Bool {
        var value: UInt8 = 0
        return getxattr(folder, "user.delegate", &value, 1) == 1 && value == UInt8(ascii: "1")
    }

    /// Makes a group for a worker. Blocks for as long as the kernel takes for it.
    ///
    /// - Parameter memory: the bytes of address space that the worker may have.
    func group(named name: String, memory: UInt64) -> ControlGroup? {
        guard let group = ControlGroup(making: "\(folder)/\(name)") else { return nil }
        let (bytes, isTooMuch) = memory.multipliedReportingOverflow(by: ControlGroups.roomForPages)
        if !isTooMuch { group.write("\(bytes)", to: "memory.max") }
        return group
    }
}
