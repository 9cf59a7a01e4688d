import Transport

@testable import SkyCore

/// A machine of the simulation. Its node and its coordinator die together; what is in the journal stays.
struct SimulatedHost {
    /// The state that is lost in a crash.
    struct Process {
        var book: WorkBook
        var core: CoordinatorCore
        /// Attempts that run, or were stopped and have not ended yet.
        var running: Set<AttemptID> = []
        var collectors: [CoordinatorID: Int] = [:]
        /// Calls that have not been answered.
        var unanswered: Set<Int> = []
        /// Whether a writer of the coordinator's journal is active, and whether it waits for the disk.
        var hasWriter = false
        var isWriting = false
        var expiryCheck: Duration?
    }

    let name: String
    let slots: Int
    /// How much longer everything takes there.
    let slowness: Int
    var journal: SimulatedJournal
    /// The id of the process that runs.
    var node: NodeID?
    var process: Process?
    /// Until when nothing can be stored.
    var diskFullUntil: Duration = .zero
    var killsNodes = true
}
