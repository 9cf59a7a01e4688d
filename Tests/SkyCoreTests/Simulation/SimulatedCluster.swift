import Base
import HeapModule
import NIOCore
import Transport

@testable import SkyCore

/// Machines in virtual time, each with a node and a coordinator, and everything that goes wrong in a real network: tasks that
/// fail or kill their node, machines that crash at any moment and come back, links that break, calls and answers that are
/// lost, late or made twice, leases that run out, disks that are full.
///
/// One seed is one history. After every step nodes, coordinators and journals are checked for what they promise.
struct SimulatedCluster {
    /// What is to happen, and to which process: a process that has died since then gets no event.
    indirect enum Happening {
        case woken(host: Int, NodeID, at: Duration)
        case called(NodeCalls.Kind, from: Int, NodeID, to: NodeID)
        case arrived(Call, Caller, at: NodeID)
        case answered(Answer, Caller, from: NodeID)
        case collectionTimedOut(host: Int, NodeID, CollectRequest, Caller)
        case ended(AttemptID, host: Int, NodeID, AttemptOutcome, Duration)
        case expiryChecked(host: Int, NodeID)
        case wrote([JournalEntry], host: Int, NodeID)
        case crashed(host: Int)
        case started(host: Int)
        case linkBroken(Int, Int)
        case linkMade(Int, Int)
        case linkHeard(host: Int, NodeID, of: NodeID, isUp: Bool)
        case submitted(JobRequest, JobID, token: String, host: Int)
        case cancelled(JobID, host: Int)
        case drained(Bool, host: Int)
        case diskFull(host: Int, for: Duration)
        case replicated(ReplicatedHappening)
    }

    /// The identity of a call. The first of several answers to it counts.
    struct Caller {
        var host: Int
        var node: NodeID
        var number: Int
    }

    enum Call {
        case reserve(ReserveRequest)
        case assign(Assignment)
        case collect(CollectRequest)
    }

    enum Answer {
        case lease(Lease)
        case assigned
        case collected(CollectReply, CollectRequest)
        case failed(Call, mayHaveRun: Bool)
    }

    /// What a set of histories must contain, or it proves nothing.
    enum Sight: CaseIterable {
        case retried, inputOutOfReach, poison, faultsUsedUp, leaseLost, hostCrashed, jobResumed, resultHandedOver
        case adopted, speculative, cancelled, journalFailed, superseded, drained, callLost
    }

    private struct Event: Comparable {
        var due: Duration
        var number: Int
        var happening: Happening

        static func < (left: Event, right: Event) -> Bool { (left.due, left.number) < (right.due, right.number) }
        static func == (left: Event, right: Event) -> Bool { left.number == right.number }
    }

    static let leaseDuration: Duration = .seconds(2)

    private(set) var now: Duration = .zero
    private(set) var steps = 0
    var random: SplitMix64
    var hosts: [SimulatedHost] = []
    /// Pairs of hosts with a link, smaller first.
    var links: Set<[Int]> = []
    /// Until when the ends of a broken link may not have heard of it: they do not make a new one before.
    var unheardBreaks: [Set<NodeID>: Duration] = [:]
    var violations: [String] = []
    var seen: Set<Sight> = []
    /// Jobs whose submission was answered, and where.
    var promised: [JobID: Int] = [:]
    /// Hosts with something new, to be checked after the step.
    var touched: Set<Int> = []
    /// What each host is writing.
    var inFlight: [Int: [JournalEntry]] = [:]
    /// Collections that wait, by host and coordinator: who asks.
    var waitingCollections: [[UInt64]: (CollectRequest, Caller)] = [:]
    var lastCall = 0
    /// What is known of the copies of a journal, in histories that have some.
    var copies = SimulatedCopies()
    private var queue = Heap<Event>()
    private var lastNumber = 0

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    mutating func schedule(_ happening: Happening, after delay: Duration) {
        lastNumber += 1
        queue.insert(Event(due: now + delay, number: lastNumber, happening: happening))
    }

    /// Runs until nothing is left to happen, something is wrong, or `limit` steps have been taken.
    mutating func run(limit: Int) {
        while violations.isEmpty, let next = queue.popMin() {
            now = next.due
            steps += 1
            guard steps <= limit else {
                violations.append("still busy after \(limit) steps, at \(now)")
                return checkEnd()
            }
            perform(next.happening)
            for host in touched { check(hosts[host]) }
            touched = []
        }
        if violations.isEmpty { checkEnd() }
    }

    /// Runs until it is `end`, or something is wrong.
    mutating func run(until end: Duration) {
        while violations.isEmpty, let first = queue.min, first.due <= end {
            let next = queue.removeMin()
            now = next.due
            steps += 1
            perform(next.happening)
            for host in touched { check(hosts[host]) }
            touched = []
        }
        now = max(now, end)
    }

    private mutating func check(_ host: SimulatedHost) {
        violations += host.journal.violations
        guard let process = host.process else { return }
        if process.running.count > host.slots {
            violations.append("\(host.name) runs \(process.running.count) on \(host.slots) slots")
        }
        if process.book.running != process.running.count {
            violations.append("\(host.name) books \(process.book.running), runs \(process.running.count)")
        }
        guard !copies.areKept else { return checkPublished(by: host) }
        for job in process.core?.jobs.all.map({ $0 }) ?? [] {
            let id = job.id
            let stored = host.journal.results[id]?.count ?? 0
            if job.published.completed > stored {
                violations.append("\(id): published \(job.published.completed), stored \(stored)")
            }
            if job.published.report != nil, host.journal.jobs[id]?.report == nil {
                violations.append("\(id) was said to have ended before that was stored")
            }
        }
    }

    /// Every job that was promised has ended, every task has one end, everything was given back.
    private mutating func checkEnd() {
        for (id, host) in promised {
            guard let job = hosts[host].journal.jobs[id] else {
                violations.append("\(id) was promised and is gone")
                continue
            }
            guard let report = job.report, let request = job.request.kind.rehearsal else {
                let why = hosts[host].process?.core?.explain(id, now: now)
                let nodes = why?.requirements.map { "\($0.nodes) \($0.name)" } ?? []
                let tasks = why?.tasks.map { "\($0.task) (tried \($0.attempts) times) \($0.lastEvent)" } ?? []
                violations.append("\(id) of host\(host) never ended: \(why?.reasons ?? []), \(nodes), \(tasks)")
                continue
            }
            if report.state == .done, report.completed + report.failed != request.tasks {
                violations.append("\(id): \(report.completed) and \(report.failed) of \(request.tasks)")
            }
            let published = hosts[host].process?.core?.jobs[id]?.published
            if let published, published.report == nil || published.completed != report.completed {
                violations.append("\(id): stored \(report.completed), published \(published.completed)")
            }
        }
        checkBooks()
    }

    /// Nothing runs or waits any more, and nothing is kept.
    mutating func checkBooks() {
        for host in hosts {
            guard let book = host.process?.book else { continue }
            if book.running != 0 || book.waiting != 0 || book.free != host.slots || book.resultBytes != 0 {
                violations.append(
                    "\(host.name) kept \(book.running) running, \(book.waiting) waiting, \(book.free) free, \(book.resultBytes) bytes"
                )
            }
        }
    }

    mutating func delay(_ milliseconds: ClosedRange<Int>) -> Duration {
        .microseconds(Int.random(in: milliseconds.lowerBound * 1000...milliseconds.upperBound * 1000, using: &random))
    }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }
}
