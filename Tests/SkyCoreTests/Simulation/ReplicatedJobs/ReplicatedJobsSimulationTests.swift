import Foundation
import Testing
import Transport

@testable import SkyCore

@Suite("Jobs of a coordinator with copies in a failing cluster")
struct ReplicatedJobsSimulationTests {
    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    /// 150 histories; others with `JOB_SIMULATION_SEEDS` and `JOB_SIMULATION_FIRST_SEED`.
    private static let seeds: Range<UInt64> = {
        let first = setting("JOB_SIMULATION_FIRST_SEED") ?? 0
        return first..<(first + (setting("JOB_SIMULATION_SEEDS") ?? 150))
    }()

    @Test("jobs outlive their machine: what was published stays, is stored twice, and goes on in one place")
    func survivesEverything() async {
        let seen = await withTaskGroup(of: Set<SimulatedCopies.Sight>.self) { group in
            let lanes: UInt64 = 8
            for lane in 0..<lanes {
                group.addTask {
                    var seen: Set<SimulatedCopies.Sight> = []
                    for seed in Self.seeds where seed % lanes == lane {
                        let cluster = SimulatedCluster.historyWithCopies(seed)
                        if !cluster.violations.isEmpty {
                            let violations = cluster.violations.joined(separator: "; ")
                            Issue.record("seed \(seed), step \(cluster.steps), \(cluster.now): \(violations)")
                        }
                        seen.formUnion(cluster.copies.seen)
                    }
                    return seen
                }
            }
            return await group.reduce(into: Set()) { $0.formUnion($1) }
        }
        // Histories in which nothing goes wrong would prove nothing.
        if Self.seeds.count >= 1000 {
            #expect(Set(SimulatedCopies.Sight.allCases).subtracting(seen).isEmpty)
        }
    }

    @Test("the same seed gives the same history")
    func repeats() {
        let histories = (0..<2).map { _ in
            let cluster = SimulatedCluster.historyWithCopies(4711)
            return [cluster.steps, Int(cluster.now / .microseconds(1)), Int(cluster.copies.published.number)]
        }
        #expect(histories[0] == histories[1])
    }

    /// A history in which each mistake is found. `make job-simulation` shows that it is found within 1,000.
    private static let telling: [ReplicatedFlaw: UInt64] = [
        .publishedBeforeCopied: 0, .generationWithoutTerm: 51, .publishedAfterSuperseded: 27, .supersededForgotten: 192,
    ]

    @Test("a mistake where a coordinator meets its copies is found", arguments: ReplicatedFlaw.allCases)
    func findsMistakes(flaw: ReplicatedFlaw) {
        let isWholeSearch = Self.seeds.count > 2000
        let tried = isWholeSearch ? 0..<1000 : (Self.telling[flaw] ?? 0)..<1000
        let found = tried.first { !SimulatedCluster.historyWithCopies($0, flaw: flaw).violations.isEmpty }
        #expect(found != nil)
        if let found {
            let violations = SimulatedCluster.historyWithCopies(found, flaw: flaw).violations
            print("\(flaw): seed \(found): \(violations[0])")
        }
    }
}
