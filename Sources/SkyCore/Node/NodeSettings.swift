package import Transport

/// How a node is set up.
package struct NodeSettings: Sendable {
    package var cluster: ClusterSettings
    /// Attempts that may run at once. One a core is right for scans, which compute without waiting.
    package var slots: Int
    /// The program to start worker processes from.
    package var executable: String
    /// Bytes of address space that each worker process may have.
    package var workerMemory: UInt64
    /// Where they get control groups; `nil` where they stay in the daemon's.
    package var controlGroups: ControlGroups?
    /// Bytes of pixels from other nodes, and for them, that are kept.
    package var pixelCache = PixelStore.usualLimit
    package var retention = JobRetention()
    /// Whether a task may kill this daemon, to rehearse a crash.
    package var allowsCrash = false
    /// How many times as long simulated tasks take here, to rehearse a slow machine.
    package var slowness = 1

    /// Most slots of one node; beyond it the processes alone would exhaust a machine.
    package static let slotLimit = 1024

    package init(cluster: ClusterSettings, slots: Int, executable: String) {
        self.cluster = cluster
        self.slots = slots
        self.executable = executable
        workerMemory = MachineMemory.shareOfWorker(among: slots)
    }
}
