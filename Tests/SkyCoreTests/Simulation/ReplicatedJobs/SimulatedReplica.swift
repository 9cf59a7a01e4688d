import Transport

@testable import SkyCore

/// A replica of the journal in a process, with what its coordinator has under way.
final class SimulatedReplica {
    typealias Core = ReplicaCore<ReplicatedEntries>

    /// Entries of the coordinator, until they are committed.
    struct Proposal {
        var entries: [JournalEntry]
        /// The number of their batch, when this machine has stored them.
        var number: UInt64?
        /// Whether the coordinator is about to hear what became of them.
        var isSettling = false
    }

    /// A client that waits until an entry is stored.
    struct Waiter {
        var entry: UInt64
        var client: Int
        var request: SimulatedClient.Request
        var job: JobID
        /// Whether the job began with this request: it is given up again where it cannot be stored.
        var isNew = false
    }

    var core: Core
    /// Tells one replica of a process from the next.
    let session: Int
    /// When it began, and what its clock showed then.
    let start: Duration
    let clock: Duration
    /// The write under way.
    var write: ReplicaWrite<ReplicatedEntries>?
    /// The calls that are to be answered, by ticket.
    var tickets: [UInt64: (host: Int, session: Int, call: UInt64)] = [:]
    var lastTicket: UInt64 = 0
    var proposals: [UInt64: Proposal] = [:]
    var lastProposal: UInt64 = 0
    var waiters: [Waiter] = []
    /// The term in which the coordinator works; `nil` while there is none.
    var term: UInt64?
    /// When the node has done everything that the replica has said so far.
    var nodeDone = Duration.zero

    init(core: Core, session: Int, start: Duration, clock: Duration) {
        self.core = core
        self.session = session
        self.start = start
        self.clock = clock
    }
}

/// What happens to the copies of a journal, and to its clients.
enum ReplicatedHappening {
    case ticked(Int, session: Int)
    case arrived(ReplicaRequest<ReplicatedEntries>, from: Int, call: UInt64, session: Int, to: ReplicaID)
    case replied(ReplicaReply, by: ReplicaID, call: UInt64, to: Int, session: Int)
    case unanswered(call: UInt64, of: ReplicaID, at: Int, session: Int)
    case wrote(ReplicaWrite<ReplicatedEntries>, Int, session: Int, isStored: Bool)
    case pageRead(for: ReplicaID, from: UInt64, Int, session: Int)
    /// The node begins or ends the coordinator, after what its replica has said.
    case opened(Int, session: Int, term: UInt64)
    case closed(Int, session: Int)
    /// What the coordinator wanted stored is committed, or cannot be stored now.
    case settled(UInt64, Int, session: Int, at: LogPosition?)
    /// A coordinator proposes once more what could not be stored. It ends with its term: the next one has read what was stored.
    case proposed([JournalEntry], Int, session: Int, term: UInt64?)
    case asked(Int, SimulatedClient.Request)
    case backedUp
    /// A machine that has said goodbye goes.
    case left(Int, for: Duration)
    case fault(ReplicatedFault)

    /// The machine whose process has to do with it.
    var host: Int? {
        switch self {
        case .ticked(let host, _), .replied(_, _, _, let host, _), .unanswered(_, _, let host, _),
            .wrote(_, let host, _, _),
            .pageRead(_, _, let host, _), .opened(let host, _, _), .closed(let host, _), .settled(_, let host, _, _),
            .proposed(_, let host, _, _):
            host
        case .arrived, .asked, .backedUp, .left, .fault: nil
        }
    }
}

/// A misfortune of a machine that keeps copies, or of the network between such machines.
enum ReplicatedFault {
    /// One that replicas alone have, too. Where nothing arrives in one direction, the link ends when that is noticed.
    case ofReplicas(SimulatedFault)
    /// The machine begins with a version that knows of copies.
    case upgrade(Int)
    /// The clock of a machine is set.
    case clockSet(Int)
    /// The machine that works as coordinator is lost, and the one that takes over next, too.
    case loseInTurn
}

/// A mistake that somebody might make where a coordinator meets its copies.
enum ReplicatedFlaw: CaseIterable {
    /// What one machine has stored counts as stored.
    case publishedBeforeCopied
    /// A takeover counts its generations as if it were in no term.
    case generationWithoutTerm
    /// A coordinator goes on when its replica is the primary no more.
    case publishedAfterSuperseded
    /// A replica that is superseded ends, and its journal is set aside where it was the node's own, before others have all of it.
    case supersededForgotten
}
