import Transport

@testable import SkyCore

/// A machine of the simulation. Its node and its coordinator die together; what is in the journal stays.
///
/// It is an object, as its process and its replica are: every step looks at some, and copies of all their state would take
/// a third of the time of a history.
final class SimulatedHost {
    /// The state that is lost in a crash.
    final class Process {
        var book: WorkBook
        /// The coordinator that works there; `nil` where a node only keeps a copy of another one's journal.
        var core: CoordinatorCore?
        /// When the coordinator's clock showed zero.
        var coreStart: Duration = .zero
        /// The node's replica of the one journal of which there are copies.
        var replica: SimulatedReplica?
        /// Attempts that run, or were stopped and have not ended yet.
        var running: Set<AttemptID> = []
        var collectors: [CoordinatorID: Int] = [:]
        /// Calls that have not been answered.
        var unanswered: Set<Int> = []
        /// Whether a writer of the coordinator's journal is active, and whether it waits for the disk.
        var hasWriter = false
        var isWriting = false
        var expiryCheck: Duration?

        init(book: WorkBook, core: CoordinatorCore? = nil) {
            self.book = book
            self.core = core
        }
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

    // MARK: - Where there are copies

    /// What the machine has stored of the replicated journal.
    var disk = ReplicatedDisk()
    /// Earlier states of the disk, as backups keep them.
    var backups: [ReplicatedDisk] = []
    /// Whether its version of the program knows of copies.
    var knowsCopies = true
    /// How far its clock is from the time of the simulation.
    var clockError: Duration = .zero
    /// Until when the process does nothing, and until when it stores slowly.
    var frozenUntil: Duration = .zero
    var slowUntil: Duration = .zero

    init(name: String, slots: Int, slowness: Int, journal: SimulatedJournal) {
        self.name = name
        self.slots = slots
        self.slowness = slowness
        self.journal = journal
    }
}
