import Base
import HeapModule
import Transport

@testable import SkyCore

/// Machines in virtual time that keep copies of one coordinator's journal, and everything that can happen to them: they
/// crash and come back, freeze, lose their disks or get old ones back, cannot store or store slowly; links are cut in one
/// direction or in both, calls and answers are late or lost.
///
/// One seed is one history. What was published is looked for in everything that comes later.
struct SimulatedReplicas {
    typealias Core = ReplicaCore<SimulatedContent>
    typealias Batch = LogBatch<SimulatedContent>

    /// Indirect because the heap of events moves them.
    indirect enum Happening {
        case ticked(Int, process: Int)
        case arrived(ReplicaRequest<SimulatedContent>, from: Int, call: UInt64, process: Int, to: ReplicaID)
        case answered(ReplicaReply, by: ReplicaID, call: UInt64, to: Int, process: Int)
        case timedOut(call: UInt64, of: ReplicaID, at: Int, process: Int)
        case wrote(ReplicaWrite<SimulatedContent>, Int, process: Int, isStored: Bool)
        case pageRead(for: ReplicaID, from: UInt64, Int, process: Int)
        case proposed
        case backedUp
        case started(Int)
        /// A host notices that the link to the node of a replica is in doubt.
        case doubted(Int, process: Int, ReplicaID)
        /// A host notices that it is not in doubt any more.
        case trusted(Int, process: Int, ReplicaID)
        /// A host that is about to go in order asks whether it may.
        case leaving(Int, process: Int, until: Duration, thenFor: Duration?)
        /// From now on the machine has no room for more of any copy, to the end.
        case outOfRoom(Int)
        /// The copy of a standby is found to be damaged.
        case damaged(Int)
        case fault(SimulatedFault)
    }

    /// What a set of histories must contain, or it proves nothing.
    enum Sight: CaseIterable {
        case takenOver, handedOver, returned, superseded, rolledBack, copied, membersChanged, diskLost, diskPutBack
        case refusedAsFull, deletedWithoutRoom, copyDamaged, copyDropped
        case saidGoodbye, heldBack, votesGivenBack, passedOn
    }

    struct Process {
        var core: Core
        var number: Int
        /// When it began, and what its clock showed then.
        var start: Duration
        var clock: Duration
        var isOpen = false
        /// The write under way.
        var write: ReplicaWrite<SimulatedContent>?
        /// Which call of its own has which ticket is known to the network only; these are the open tickets here.
        var tickets: [UInt64: (host: Int, process: Int, call: UInt64)] = [:]
        var lastTicket: UInt64 = 0
        /// The hosts that have said goodbye to it and are not back, and when they did.
        var goodbyes: [Int: Duration] = [:]
        /// Whether it is about to go in order.
        var isLeaving = false
    }

    struct Host {
        var disk: SimulatedDisk
        /// Earlier states of the disk, as backups keep them.
        var backups: [(at: Duration, disk: SimulatedDisk)] = []
        var process: Process?
        var frozenUntil: Duration = .zero
        /// Until when it waits at most before it goes in order, and for how long it is gone.
        var goodbye: (until: Duration, time: Duration?)?
        var fullUntil: Duration = .zero
        var slowUntil: Duration = .zero
        /// Whether there is no room for copies, but for what makes room.
        var isShort = false
        /// The last term that the replica has promised to itself.
        var stoodFor: UInt64 = 0
    }

    struct Event: Comparable {
        var due: Duration
        var number: Int
        var happening: Happening
        static func < (left: Event, right: Event) -> Bool { (left.due, left.number) < (right.due, right.number) }
        static func == (left: Event, right: Event) -> Bool { left.number == right.number }
    }

    /// A mistake that is made on purpose.
    let flaw: SimulatedFlaw?
    let policy: CopyPolicy
    var random: SplitMix64
    /// Decides which machines run out of room, beside everything else.
    var randomRoom: SplitMix64
    var now: Duration = .zero
    var steps = 0
    var hosts: [Host] = []
    /// Ordered pairs of hosts between which nothing arrives, and until when.
    var cuts: [[Int]: Duration] = [:]
    var violations: [String] = []
    var seen: Set<Sight> = []
    /// All batches that were ever made, by the hash of their position.
    var batches: [UInt64: Batch] = [:]
    /// Who made the batches of each term.
    var primaries: [UInt64: ReplicaID] = [:]
    /// The last position that was published.
    var published = LogPosition.start
    /// How much was published after the last misfortune.
    var publishedAtEnd = 0
    var isCalm = false
    /// Whether no more jobs come.
    var isIdle = false
    /// The position at which all jobs were deleted; `nil` where they were not.
    var deleted: LogPosition?
    /// Whether the primary that went in order last had no jobs. Nobody goes on with such a journal.
    var isWithoutJobs = false
    /// Whether misfortunes may still happen.
    var mayFail = true
    var lastProcess = 0
    var lastValue: UInt64 = 0
    private var queue = Heap<Event>()
    private var lastEvent = 0

    init(seed: UInt64, flaw: SimulatedFlaw? = nil) {
        random = SplitMix64(seed: seed)
        randomRoom = SplitMix64(seed: ~seed)
        self.flaw = flaw
        // In some histories there are more copies, and in some all candidates stand at the same time.
        var policy = CopyPolicy(copies: seed % 4 == 0 ? 4 : 2)
        if seed % 3 == 0 { policy.stagger = .zero }
        self.policy = policy
    }

    mutating func schedule(_ happening: Happening, after delay: Duration) {
        lastEvent += 1
        queue.insert(Event(due: now + delay, number: lastEvent, happening: happening))
    }

    mutating func run(until end: Duration) {
        while violations.isEmpty, let first = queue.min, first.due <= end {
            let next = queue.removeMin()
            now = next.due
            steps += 1
            perform(next.happening)
        }
    }

    mutating func delay(_ milliseconds: ClosedRange<Int>) -> Duration {
        .microseconds(Int.random(in: milliseconds.lowerBound * 1000...milliseconds.upperBound * 1000, using: &random))
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func host(of replica: ReplicaID) -> Int? { hosts.firstIndex { $0.disk.id == replica } }

    /// Somebody removes other files from all disks.
    mutating func makeRoom() { for host in hosts.indices { hosts[host].isShort = false } }

    func arrives(from: Int, to: Int) -> Bool { cuts[[from, to]].map { $0 <= now } ?? true }

    // MARK: - Checks

    /// Whether everything up to `earlier` is in the journal that ends at `later`.
    func contains(_ later: LogPosition, _ earlier: LogPosition) -> Bool {
        var position = later
        while position.number > earlier.number, let batch = batches[position.hash] { position = batch.previous }
        return position == earlier
    }

    /// What a journal holds at a position.
    func rows(at position: LogPosition) -> SimulatedRows {
        var chain: [Batch] = []
        var position = position
        while let batch = batches[position.hash] {
            chain.append(batch)
            position = batch.previous
        }
        var rows = SimulatedRows()
        for batch in chain.reversed() { rows.append(batch.content) }
        return rows
    }

    mutating func check(_ host: Int, _ what: String) {
        guard let position = hosts[host].disk.record.position else { return }
        if hosts[host].disk.rows != rows(at: position) {
            violations.append("\(what): host \(host) does not hold what its position says")
        }
    }

    mutating func publish(_ position: LogPosition, by host: Int) {
        if contains(position, published) {
            if position.number > published.number, isCalm { publishedAtEnd += 1 }
            published = position
        } else if !contains(published, position) {
            violations.append(
                "host \(host) publishes \(position.term).\(position.number), which is not in line with \(published.term).\(published.number)"
            )
        }
    }
}

/// A misfortune.
enum SimulatedFault {
    case crash(Int, for: Duration)
    /// The machine comes back with an empty disk.
    case wipe(Int, for: Duration)
    /// The machine comes back with an earlier state of its disk.
    case rollBack(Int, for: Duration)
    case freeze(Int, for: Duration)
    case full(Int, for: Duration)
    case slow(Int, for: Duration)
    case cut(Int, Int, for: Duration)
    /// Nothing passes between the hosts with a number below this one and the others.
    case split(at: Int, for: Duration)
    case powerCut(for: Duration)
    case handOver
    /// The machine is switched off in order.
    case goodbye(Int, for: Duration)
}
