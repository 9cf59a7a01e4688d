import Foundation
import Testing
import Transport

@testable import SkyCore

@Suite("Copies of a journal in a failing cluster")
struct ReplicaSimulationTests {
    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    /// 300 histories; others with `JOB_SIMULATION_SEEDS` and `JOB_SIMULATION_FIRST_SEED`.
    private static let seeds: Range<UInt64> = {
        let first = setting("JOB_SIMULATION_FIRST_SEED") ?? 0
        return first..<(first + (setting("JOB_SIMULATION_SEEDS") ?? 300))
    }()

    static func history(_ seed: UInt64, flaw: SimulatedFlaw? = nil) -> SimulatedReplicas {
        var replicas = SimulatedReplicas(seed: seed, flaw: flaw)
        replicas.populate()
        replicas.run(until: .seconds(90))
        replicas.calm()
        replicas.spendNight()
        replicas.deleteAll()
        return replicas
    }

    @Test("what was published stays, a term has one primary, and in the end there is one")
    func survivesEverything() async {
        let seen = await withTaskGroup(of: Set<SimulatedReplicas.Sight>.self) { group in
            let lanes: UInt64 = 8
            for lane in 0..<lanes {
                group.addTask {
                    var seen: Set<SimulatedReplicas.Sight> = []
                    for seed in Self.seeds where seed % lanes == lane {
                        let replicas = Self.history(seed)
                        if !replicas.violations.isEmpty {
                            Issue.record(
                                "seed \(seed), step \(replicas.steps), \(replicas.now): \(replicas.violations.joined(separator: "; "))"
                            )
                        }
                        seen.formUnion(replicas.seen)
                    }
                    return seen
                }
            }
            return await group.reduce(into: Set()) { $0.formUnion($1) }
        }
        // Histories in which nothing goes wrong would prove nothing.
        if Self.seeds.count >= 1000 {
            #expect(Set(SimulatedReplicas.Sight.allCases).subtracting(seen).isEmpty)
        }
    }

    /// A history in which each mistake is found. `make job-simulation` shows that it is found within 1,000.
    private static let telling: [SimulatedFlaw: UInt64] = [
        .promiseNotDurable: 68, .promisedTwice: 60, .acknowledgedBeforeStored: 68, .lengthBeforeTerm: 20,
        .copyWithoutHash: 28, .goodbyeWithoutConsent: 56, .termRefusedForRoom: 13,
    ]

    @Test("a mistake in the protocol is found", arguments: SimulatedFlaw.allCases)
    func findsMistakes(flaw: SimulatedFlaw) {
        let isWholeSearch = Self.seeds.count > 2000
        let tried = isWholeSearch ? 0..<1000 : (Self.telling[flaw] ?? 0)..<1000
        let found = tried.first { !Self.history($0, flaw: flaw).violations.isEmpty }
        #expect(found != nil)
        if let found { print("\(flaw): seed \(found): \(Self.history(found, flaw: flaw).violations[0])") }
    }
}

extension SimulatedReplicas {
    /// Machines, of which the first has the journal, and misfortunes to come in the first minute.
    mutating func populate() {
        for number in 0..<Int.random(in: 3...5, using: &random) {
            let id = ReplicaID(rawValue: random.next())
            let record =
                number == 0
                ? ReplicaRecord(position: .start, set: ReplicaSet(members: [id])) : ReplicaRecord()
            hosts.append(Host(disk: SimulatedDisk(id, record: record)))
            hosts[number].disk.forgetsPromises = flaw == .promiseNotDurable
            schedule(.started(number), after: delay(0...200))
            if Int.random(in: 0..<10, using: &randomRoom) == 0 {
                let time = Duration.milliseconds(Int.random(in: 500...60_000, using: &randomRoom))
                schedule(.outOfRoom(number), after: time)
            }
            if Int.random(in: 0..<5, using: &randomRoom) == 0 {
                let time = Duration.milliseconds(Int.random(in: 500...60_000, using: &randomRoom))
                schedule(.damaged(number), after: time)
            }
        }
        schedule(.proposed, after: delay(10...400))
        schedule(.backedUp, after: delay(100...15_000))
        for _ in 0..<Int.random(in: 1...10, using: &random) { schedule(.fault(fault()), after: delay(500...60_000)) }
    }

    private mutating func fault() -> SimulatedFault {
        let host = Int.random(in: 0..<hosts.count, using: &random)
        let other = (host + Int.random(in: 1..<hosts.count, using: &random)) % hosts.count
        switch Int.random(in: 0..<25, using: &random) {
        case 0...3: return .crash(host, for: chance(50) ? delay(100...4000) : delay(4000...20_000))
        case 4...6: return .wipe(host, for: delay(100...20_000))
        case 7...8: return .rollBack(host, for: delay(100...20_000))
        case 9...10: return .freeze(host, for: delay(1000...12_000))
        case 11: return .full(host, for: delay(1000...20_000))
        case 12: return .slow(host, for: delay(1000...20_000))
        case 13...15: return .cut(host, other, for: delay(1000...20_000))
        case 16...17: return .split(at: Int.random(in: 1..<hosts.count, using: &random), for: delay(1000...20_000))
        case 18: return .powerCut(for: delay(100...10_000))
        case 19...23: return .goodbye(host, for: chance(50) ? delay(100...4000) : delay(4000...25_000))
        default: return .handOver
        }
    }

    /// Nothing more goes wrong. Where a majority is left, there is one primary soon, and it publishes.
    mutating func calm() {
        guard violations.isEmpty else { return }
        mayFail = false
        schedule(.proposed, after: .zero)
        cuts = [:]
        for host in hosts.indices {
            hosts[host].fullUntil = .zero
            hosts[host].slowUntil = .zero
        }
        run(until: now + .seconds(30))
        if waitsForRoom {
            makeRoom()
            run(until: now + .seconds(30))
        }
        isCalm = true
        run(until: now + .seconds(10))
        guard violations.isEmpty else { return }
        let open = hosts.indices.filter { hosts[$0].process?.isOpen == true }
        if open.count != 1 || publishedAtEnd == 0 {
            violations.append("\(open.count) primaries at the end, \(publishedAtEnd) published: \(summary)")
        }
        for host in hosts.indices { check(host, "at the end") }
    }
}

extension SimulatedReplicas {
    /// Whether a journal's members are no majority without those whose disks are lost or full: somebody has to make room.
    private var waitsForRoom: Bool {
        // One that waits for a majority to begin may wait for room, too: but only for that of a whole copy.
        let open = hosts.first { $0.process?.isOpen == true }
        guard let set = (open ?? hosts.first { $0.process?.core.isPrimary == true })?.disk.record.set else {
            return false
        }
        let usable = set.everyone.filter { replica in
            host(of: replica).map { !hosts[$0].isShort || open == nil && hosts[$0].disk.record.position != nil }
                ?? false
        }
        return !set.isQuorum(Set(usable))
    }

    /// A line for each host.
    var summary: String {
        func name(_ replica: ReplicaID) -> String { host(of: replica).map { "host\($0)" } ?? "gone" }
        let lines = hosts.indices.map { index in
            let (record, core) = (hosts[index].disk.record, hosts[index].process?.core)
            let role: String =
                switch core?.role {
                case nil: "down"
                case .standby: "standby"
                case .candidate(let candidacy): "candidate \(candidacy.stage) \(candidacy.term)"
                case .primary(let primary):
                    "primary \(primary.stage) \(primary.term) committed \(primary.committed) "
                        + primary.followers.map { "\(name($0)) \($1.acked) \($1.call.map { "call \($0)" } ?? "")" }
                        .joined(separator: ", ")
                }
            let position = record.position.map { "\($0.term).\($0.number)" } ?? "nothing"
            let members = record.set.members.map(name) + ["/"] + record.set.former.map(name)
            return
                "\n  host\(index) \(role), promised \(record.promised), at \(position), \(members.joined(separator: " "))"
        }
        return lines.joined()
    }
}
