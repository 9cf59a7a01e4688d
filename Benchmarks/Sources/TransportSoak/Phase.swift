import BenchmarkNodes
import Distributed
import Foundation
import Transport

/// One kind of work, and whether everything is back where it was afterwards.
struct Phase {
    var title: String
    var count: Int
    var run: (Int) async throws -> Void

    /// Time in which links and tasks that have ended may be cleared away.
    private static let settling = Duration.seconds(10)

    /// Prints what the process holds before and after, and whether that is within the bounds. Where it is not, everything is done
    /// once more, and that result counts: each thread of the pool keeps some five hundred blocks for its next jobs, and may have
    /// come in the middle. Blocks that the work itself leaves behind are left behind again.
    func pass(_ work: Work, _ bounds: Bounds) async throws -> Bool {
        if try await attempt(work, bounds) { return true }
        print("once more")
        return try await attempt(work, bounds)
    }

    private func attempt(_ work: Work, _ bounds: Bounds) async throws -> Bool {
        let before = try Vitals.now()
        let start = ContinuousClock.now
        try await run(count)
        let elapsed = start.duration(to: .now)
        let (after, violations) = try await settled(work, before, bounds)
        print("\(count) \(title) in \(String(format: "%.1f", elapsed / .seconds(1))) s")
        print("  before  \(describe(before))")
        print("  after   \(describe(after))")
        for violation in violations { print("  FAILED  \(violation)") }
        return violations.isEmpty
    }

    /// Looks again and again until nothing is out of bounds, or the time for that is over.
    private func settled(_ work: Work, _ before: Vitals, _ bounds: Bounds) async throws -> (Vitals, [String]) {
        let limit = ContinuousClock.now + Phase.settling
        while true {
            let after = try Vitals.now()
            var violations = bounds.violations(from: before, to: after)
            let alive = work.census.alive()
            if alive > 0 { violations.append("\(alive) actor systems of clients still exist") }
            let members = work.system.members.count
            if members > 0 { violations.append("the server still counts \(members) members") }
            let asleep = await work.echo.whenLocal { $0.callsAsleep() } ?? 0
            if asleep > 0 { violations.append("\(asleep) cancelled calls still run") }
            if violations.isEmpty || ContinuousClock.now > limit { return (after, violations) }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private func describe(_ vitals: Vitals) -> String {
        let memory = String(format: "%.1f", Double(vitals.memory) / 1_048_576)
        return "\(memory) MiB resident, \(vitals.descriptors) descriptors, \(vitals.threads) threads, "
            + "\(vitals.blocks) blocks more than at the start"
    }
}
