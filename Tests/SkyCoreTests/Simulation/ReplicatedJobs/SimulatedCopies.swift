import Base
import Transport

@testable import SkyCore

/// What is known of a replicated journal in the whole simulation, and of those who use it.
struct SimulatedCopies {
    typealias Batch = LogBatch<ReplicatedEntries>

    /// What a set of histories must contain, or it proves nothing.
    enum Sight: CaseIterable {
        case takenOver, jobsTakenOver, handedOver, returned, superseded, rolledBack, copied, membersChanged, diskLost
        case diskPutBack, storedNothing, tornWrite, cutOneWay, split, clockSet, upgraded, lostInTurn, repeatedElsewhere
        case cancelled, deleted, handedOn, coordinatorsBeside, changedAfterLoss
        case leftInOrder
    }

    /// Whether this history has copies.
    var areKept = false
    var flaw: ReplicatedFlaw?
    var policy = CopyPolicy(copies: 2)
    var clients: [SimulatedClient] = []
    /// Ordered pairs of machines between which nothing arrives, and until when.
    var cuts: [[Int]: Duration] = [:]
    /// Which machine has heard the goodbye of which, when that was and for which replica.
    var goodbyes: [[Int]: (replica: ReplicaID, at: Duration)] = [:]
    /// All batches that were ever made, by the hash of their position.
    var batches: [UInt64: Batch] = [:]
    /// Who has made the batches of each term.
    var primaries: [UInt64: ReplicaID] = [:]
    /// The last position that was published, and everything that was published up to it.
    var published = LogPosition.start
    var ledger = SimulatedJournal(ReplicatedDisk.coordinator)
    /// Where disks were that have been lost or put back since.
    var lostPositions: [LogPosition] = []
    /// Whether the next machine that takes over is lost, too.
    var losesNext = false
    /// The highest term that each process of a node has worked for.
    var obeyed: [NodeID: UInt64] = [:]
    /// The good results that each process of a node has delivered and still keeps, by their sequence.
    var delivered: [NodeID: [UInt64: AttemptID]] = [:]
    /// The last term that the replica of each machine has promised to itself.
    var stoodFor: [Int: UInt64] = [:]
    /// Jobs that were published as deleted.
    var gone: Set<JobID> = []
    /// Jobs of which a client was told that they are deleted, or cancelled, and the last term in which anything was published then.
    var deleted: [JobID: UInt64] = [:]
    var cancelled: [JobID: UInt64] = [:]
    var seen: Set<Sight> = []
    /// When the last process ended or the last fault was over.
    var lastDisturbance = Duration.zero
    /// Whether misfortunes may still happen.
    var mayFail = true
    var lastSession = 0
    var lastSerial: UInt64 = 0

    func arrives(from: Int, to: Int, now: Duration) -> Bool { cuts[[from, to]].map { $0 <= now } ?? true }

    /// When two machines can reach each other again; `nil` where nothing is cut.
    func cutEnd(between left: Int, _ right: Int) -> Duration? {
        [cuts[[left, right]], cuts[[right, left]]].compactMap(\.self).max()
    }

    mutating func nextSerial() -> UInt64 {
        lastSerial += 1
        return lastSerial
    }

    // MARK: - The chain of batches

    /// Whether everything up to `earlier` is in the journal that ends at `later`.
    func contains(_ later: LogPosition, _ earlier: LogPosition) -> Bool { at(earlier.number, before: later) == earlier }

    /// The position with a number in the journal that ends at `later`.
    func at(_ number: UInt64, before later: LogPosition) -> LogPosition? {
        var position = later
        while position.number > number, let batch = batches[position.hash] { position = batch.previous }
        return position.number == number ? position : nil
    }

    /// The batches after `earlier`, up to `later`.
    func between(_ earlier: LogPosition, _ later: LogPosition) -> [Batch] {
        var chain: [Batch] = []
        var position = later
        while position.number > earlier.number, let batch = batches[position.hash] {
            chain.append(batch)
            position = batch.previous
        }
        return chain.reversed()
    }

    /// The last position that was published, of a batch of this term or an earlier one.
    func published(upTo term: UInt64) -> LogPosition {
        var position = published
        while position.term > term, let batch = batches[position.hash] { position = batch.previous }
        return position
    }

    /// The members as what was published says.
    func publishedSet(first: ReplicaID) -> ReplicaSet { set(at: published, first: first) }

    /// The members at a position.
    func set(at position: LogPosition, first: ReplicaID) -> ReplicaSet {
        var position = position
        while let batch = batches[position.hash] {
            if let set = batch.set { return set }
            position = batch.previous
        }
        return ReplicaSet(members: [first])
    }
}

/// Somebody who wants one job done. Whatever is asked is asked again until there is an answer, of whoever seems to be the
/// coordinator.
struct SimulatedClient {
    enum Request: Hashable {
        case submit, cancel, delete
    }

    var token: String
    var job: JobRequest
    /// The id of the job, when it is known to be stored.
    var id: JobID?
    var answered: Set<Request> = []
    /// The machine that was asked last.
    var asked: Int?
}
