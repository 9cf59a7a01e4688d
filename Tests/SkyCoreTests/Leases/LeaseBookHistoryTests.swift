import Base
import SkyCore
import Testing
import Transport

@Suite("Lease book over random histories")
struct LeaseBookHistoryTests {
    @Test("never runs more than its slots, and ends with nothing held", arguments: 0..<20)
    func keepsItsPromises(batch: UInt64) {
        for seed in (batch * 25)..<(batch * 25 + 25) {
            var history = LeaseHistory(seed: seed)
            for _ in 0..<150 { history.step() }
            history.settle()
            #expect(history.violations.isEmpty, "seed \(seed)")
        }
    }

    @Test("reaches the fair share once every attempt of before has finished", arguments: 0..<10)
    func reachesFairShare(batch: UInt64) {
        for seed in (batch * 30)..<(batch * 30 + 30) {
            var history = LeaseHistory(seed: seed)
            for _ in 0..<60 { history.step() }
            history.saturate()
            #expect(history.violations.isEmpty, "seed \(seed)")
        }
    }
}

/// A lease book, and the leases that its coordinators know from its answers.
private struct LeaseHistory {
    var book: LeaseBook
    var random: SplitMix64
    var now: Duration = .zero
    var slots: Int
    var published: [CoordinatorID: Lease] = [:]
    var running: [AttemptID: CoordinatorID] = [:]
    var ending: Set<AttemptID> = []
    var tasks = 0
    var violations: [String] = []
    let coordinators: [CoordinatorID]

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        slots = Int.random(in: 0...12, using: &random)
        book = LeaseBook(slots: slots, duration: .seconds(5))
        coordinators = (1...UInt64.random(in: 1...5, using: &random)).map(CoordinatorID.init(rawValue:))
    }

    mutating func step() {
        now += .milliseconds(Int.random(in: 0...400, using: &random))
        let who = coordinators[Int.random(in: 0..<coordinators.count, using: &random)]
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<20: reserve(Int.random(in: -1...15, using: &random), for: who)
        case 20..<35:
            if let lease = book.renew(for: who, now: now) { hear([lease]) }
        case 35..<65: start(for: who)
        case 65..<90: finishOne()
        case 90..<93: stop(book.coordinatorLost(who, now: now), forgetting: who)
        case 93..<97: stop(book.expire(now: now), forgetting: nil)
        case 97..<98:
            slots = Int.random(in: running.count...max(12, running.count), using: &random)
            hear(book.setSlots(slots, now: now))
        default: hear(book.setDraining(!book.isDraining, now: now))
        }
        check()
    }

    /// All coordinators give back all slots, and every attempt ends.
    mutating func settle() {
        for who in coordinators { reserve(0, for: who) }
        while !running.isEmpty {
            finishOne()
            check()
        }
        if book.free != slots { violations.append("\(book.free) of \(slots) came back") }
        if book.nextExpiry != nil { violations.append("somebody is still remembered") }
    }

    /// All coordinators demand all slots, and every earlier attempt ends.
    mutating func saturate() {
        hear(book.setDraining(false, now: now))
        for who in coordinators { reserve(1000, for: who) }
        while !running.isEmpty {
            finishOne()
            check()
        }
        let shares = coordinators.map { published[$0]?.slots ?? 0 }
        if shares.reduce(0, +) != slots { violations.append("\(slots) slots were shared as \(shares)") }
        if (shares.max() ?? 0) - (shares.min() ?? 0) > 1 { violations.append("shares are not fair: \(shares)") }
    }

    private mutating func reserve(_ wanted: Int, for who: CoordinatorID) {
        let reply = book.reserve(wanted, for: who, now: now)
        hear([reply.lease] + reply.changed)
    }

    private mutating func start(for who: CoordinatorID) {
        tasks += 1
        let attempt = AttemptID(job: JobID(rawValue: 1), task: TaskID(tasks), number: 1)
        if book.start(attempt, for: who, now: now) == nil {
            running[attempt] = who
            let mine = running.count { $0.value == who && !ending.contains($0.key) }
            let leased = published[who]?.slots ?? 0
            if mine > leased { violations.append("\(who) runs \(mine), was granted \(leased)") }
        }
    }

    private mutating func finishOne() {
        guard let attempt = running.keys.sorted().randomElement(using: &random) else { return }
        running[attempt] = nil
        ending.remove(attempt)
        hear(book.finish(attempt, now: now))
    }

    private mutating func stop(_ result: (stop: [AttemptID], changed: [Lease]), forgetting lost: CoordinatorID?) {
        ending.formUnion(result.stop)
        if let lost { published[lost] = nil }
        hear(result.changed)
    }

    private mutating func hear(_ leases: [Lease]) {
        for lease in leases {
            if let known = published[lease.coordinator] {
                if lease.fencingToken < known.fencingToken { violations.append("a fencing token went back") }
                if lease.fencingToken == known.fencingToken, lease != known {
                    violations.append("a change without a new fencing token")
                }
            }
            published[lease.coordinator] = lease
        }
    }

    private mutating func check() {
        if book.running != running.count { violations.append("books \(book.running), runs \(running.count)") }
        if running.count > slots { violations.append("\(running.count) run on \(slots) slots") }
        for (who, lease) in published where (book.lease(of: who)?.slots ?? 0) != lease.slots {
            violations.append("\(who) believes in \(lease.slots) and has \(book.lease(of: who)?.slots ?? 0)")
        }
        let held = published.values.reduce(0) { $0 + $1.slots }
        if book.free > 0, held + book.free > slots { violations.append("\(held) leased, \(book.free) free") }
    }
}
