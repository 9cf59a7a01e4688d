import Foundation
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

@Suite("Coordinators, nodes and journals in a failing cluster")
struct ClusterSimulationTests {
    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    /// 2,000 histories; others with `JOB_SIMULATION_SEEDS` and `JOB_SIMULATION_FIRST_SEED`.
    private static let seeds: Range<UInt64> = {
        let first = setting("JOB_SIMULATION_FIRST_SEED") ?? 0
        return first..<(first + (setting("JOB_SIMULATION_SEEDS") ?? 2000))
    }()

    private static func history(_ seed: UInt64) -> SimulatedCluster {
        var cluster = SimulatedCluster(seed: seed)
        cluster.populate()
        cluster.run(limit: 20_000)
        return cluster
    }

    @Test("every task ends exactly once, nothing is published before it is stored, and every slot comes back")
    func survivesEverything() async {
        let seen = await withTaskGroup(of: Set<SimulatedCluster.Sight>.self) { group in
            let lanes: UInt64 = 8
            for lane in 0..<lanes {
                group.addTask {
                    var seen: Set<SimulatedCluster.Sight> = []
                    for seed in Self.seeds where seed % lanes == lane {
                        let cluster = Self.history(seed)
                        if !cluster.violations.isEmpty {
                            let violations = cluster.violations.joined(separator: "; ")
                            Issue.record("seed \(seed), step \(cluster.steps): \(violations)")
                        }
                        seen.formUnion(cluster.seen)
                    }
                    return seen
                }
            }
            return await group.reduce(into: Set()) { $0.formUnion($1) }
        }
        // Histories in which nothing goes wrong would prove nothing.
        if Self.seeds.count >= 1000 {
            #expect(Set(SimulatedCluster.Sight.allCases).subtracting(seen).isEmpty)
        }
    }

    @Test("the same seed gives the same history")
    func repeats() {
        let histories = (0..<2).map { _ in
            let cluster = Self.history(4711)
            return [cluster.steps, Int(cluster.now / .microseconds(1))]
        }
        #expect(histories[0] == histories[1])
    }
}

extension SimulatedCluster {
    /// Machines, jobs, and misfortunes to come; after some time there are no more.
    mutating func populate() {
        let count = Int.random(in: 1...5, using: &random)
        for number in 0..<count {
            // One may have none.
            let slots = Int.random(in: number == 1 ? 0...4 : 1...4, using: &random)
            hosts.append(
                SimulatedHost(
                    name: "host\(number)", slots: slots, slowness: chance(15) ? 10 : 1,
                    journal: SimulatedJournal(CoordinatorID(rawValue: random.next()))))
            schedule(.started(host: number), after: delay(0...50))
        }
        // The one that is left when a task has killed all others must not die of it too.
        if count == 1 || chance(50) { hosts[0].killsNodes = false }
        for host in 0..<min(count, Int.random(in: 1...3, using: &random)) { submitJobs(to: host) }
        for host in 0..<count {
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                schedule(.crashed(host: host), after: delay(10...6000))
            }
            if chance(20) { schedule(.diskFull(host: host, for: delay(100...3000)), after: delay(10...4000)) }
            if chance(15) {
                let start = delay(10...3000)
                schedule(.drained(true, host: host), after: start)
                schedule(.drained(false, host: host), after: start + delay(100...5000))
            }
        }
        for _ in 0..<Int.random(in: 0...6, using: &random) where count > 1 {
            let left = Int.random(in: 0..<(count - 1), using: &random)
            schedule(.linkBroken(left, Int.random(in: (left + 1)..<count, using: &random)), after: delay(10...5000))
        }
    }

    private mutating func submitJobs(to host: Int) {
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let id = JobID(rawValue: random.next())
            var request = JobRequest(
                .simulate(SimulateRequest(tasks: Int.random(in: 1...30, using: &random), duration: .milliseconds(1))))
            request.options.priority = Int.random(in: -1...1, using: &random)
            if chance(10) { request.allowedFailures = Int.random(in: 0...2, using: &random) }
            if chance(10) { request.deadline = delay(500...8000) }
            if chance(15) { request.options.avoid = ["host\(Int.random(in: 1...4, using: &random))"] }
            // Some people have limits, which hold up nothing for ever.
            if let name = [nil, "alice", "bob", "eve"][Int(id.rawValue % 4)] {
                request.submitter = name
                request.limits = PersonalLimits(slots: name == "bob" ? nil : Int(id.rawValue / 4 % 3) + 1)
            }
            let start = delay(0...500)
            schedule(.submitted(request, id, token: "\(id)", host: host), after: start)
            // Somebody who heard no answer asks again.
            if chance(20) {
                schedule(
                    .submitted(request, JobID(rawValue: random.next()), token: "\(id)", host: host),
                    after: start + delay(1...3000))
            }
            if chance(10) { schedule(.cancelled(id, host: host), after: start + delay(1...4000)) }
        }
    }
}
