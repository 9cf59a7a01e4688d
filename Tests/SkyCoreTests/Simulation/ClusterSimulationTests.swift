import SkyCore
import Testing
import Transport

@Suite("Schedulers and lease books in a failing cluster")
struct ClusterSimulationTests {
    @Test("every task ends exactly once, no node runs too much, and every slot comes back", arguments: 0..<4)
    func survivesEverything(batch: UInt64) {
        var seen: Set<SimulatedCoordinator.Sight> = []
        for seed in (batch * 75)..<(batch * 75 + 75) {
            var cluster = SimulatedCluster(seed: seed)
            cluster.populate()
            cluster.run(limit: 20_000)
            #expect(cluster.violations.isEmpty, "seed \(seed), step \(cluster.steps)")
            for coordinator in cluster.coordinators.values { seen.formUnion(coordinator.seen) }
        }
        // Histories in which nothing goes wrong would prove nothing.
        #expect(Set(SimulatedCoordinator.Sight.allCases).subtracting(seen).isEmpty)
    }

    @Test("the same seed gives the same history")
    func repeats() {
        let histories = (0..<2).map { _ in
            var cluster = SimulatedCluster(seed: 4711)
            cluster.populate()
            cluster.run(limit: 20_000)
            return [cluster.steps, Int(cluster.now / .microseconds(1))]
        }
        #expect(histories[0] == histories[1])
    }
}

extension SimulatedCluster {
    /// Nodes, coordinators on some of them, jobs, and misfortunes to come.
    mutating func populate() {
        let count = Int.random(in: 1...5, using: &random)
        let ids = (0..<count).map { _ in NodeID(rawValue: random.next()) }
        for id in ids.prefix(Int.random(in: 1...3, using: &random)) {
            coordinators[id] = SimulatedCoordinator(id: id, seed: random.next())
        }
        for id in ids { join(id, slots: Int.random(in: 1...4, using: &random)) }
        let hosts = coordinators.keys.sorted()
        for host in hosts { submitJobs(to: host) }
        for id in ids where coordinators[id] == nil && chance(50) {
            schedule(.crashed(node: id), after: delay(10...5000))
        }
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            guard let host = hosts.randomElement(using: &random), let id = ids.randomElement(using: &random) else {
                return
            }
            schedule(.linkBroken(coordinator: host, node: id), after: delay(10...4000))
        }
        if hosts.count > 1, chance(25) { schedule(.coordinatorCrashed(hosts[0]), after: delay(10...3000)) }
    }

    private mutating func submitJobs(to host: NodeID) {
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let job = JobID(rawValue: random.next())
            let start = delay(0...500)
            let tasks = Int.random(in: 0...25, using: &random)
            schedule(.told(coordinator: host, .submitted(job, tasks: tasks), by: nil), after: start)
            let more = Int.random(in: 0...10, using: &random)
            schedule(.told(coordinator: host, .tasksAdded(job, count: more), by: nil), after: start + delay(1...2000))
            schedule(.told(coordinator: host, .noMoreTasks(job), by: nil), after: start + .seconds(2) + delay(1...1000))
            if chance(10) {
                schedule(.told(coordinator: host, .cancelled(job), by: nil), after: start + delay(1...4000))
            }
        }
    }
}
