package import Transport

/// The settings of a node.
package struct NodeSettings: Sendable {
    package var cluster: ClusterSettings
    /// How many attempts may run at once. One for each processor is right for scans, which compute without waiting.
    package var slots: Int
    /// The program from which worker processes are started.
    package var executable: String
    /// How many bytes of address space each worker process may have.
    package var workerMemory: UInt64
    /// Where worker processes get control groups; `nil` if they stay in the daemon's group.
    package var controlGroups: ControlGroups?
    /// What worker processes may read.
    package var reads = ReadPolicy()
    /// How many bytes each tool of its kinds of jobs may hold for further tasks; `nil` for as many as it holds usually.
    package var toolMemory: Int?
    package var retention = JobRetention()
    /// How copies of the coordinator's journal are kept. None are kept of a journal in memory.
    package var copies = CopyPolicy()
    /// The persons whose credentials count no more, as far as the operator has named them.
    package var revocations = Revocations()
    /// Whether a task may kill this daemon, to rehearse a crash.
    package var allowsCrash = false
    /// By which factor simulated tasks take longer here, to rehearse a slow machine.
    package var slowness = 1

    /// The most slots of one node. Beyond this number, the processes alone would exhaust a machine.
    package static let slotLimit = 1024

    package init(cluster: ClusterSettings, slots: Int, executable: String) {
        self.cluster = cluster
        self.slots = slots
        self.executable = executable
        workerMemory = MachineMemory.shareOfWorker(among: slots)
    }
}
