import Foundation
import Testing

@testable import Transport

/// The machines that decide about membership, on a network that fails in every way for half a minute and more, and then
/// heals: every node that runs has to list all others, and nobody else.
///
/// `make simulation` runs a thousand nodes with a thousand seeds.
@Suite(.serialized) struct MembershipSimulationTests {
    private static func setting(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// After the last misfortune: silence is noticed after a minute and a look, and a node that was lost is dialled again
    /// within a patient pause, or when it is heard.
    private static let patience = Duration.seconds(150)

    private struct Outcome {
        var seed: Int
        var isConverged: Bool
        /// From the last misfortune.
        var time: Duration
        var steps: Int
        var correct: Int
        var outdated: Int
        var events: [String: Int]
    }

    private static func run(hosts: Int, seed: Int) -> Outcome {
        var network = SimulatedNetwork(hosts: hosts, seed: UInt64(seed))
        let last = network.populate()
        network.run(until: last)
        network.run(until: last + patience, orConverged: true)
        return Outcome(
            seed: seed, isConverged: network.isConverged, time: network.now - last, steps: network.steps,
            correct: network.correct, outdated: network.outdated, events: network.events)
    }

    /// One network a processor at a time.
    private static func runAll(hosts: Int, seeds: Range<Int>, _ ended: (Outcome) -> Void) async {
        await withTaskGroup(of: Outcome.self) { group in
            var waiting = seeds[...]
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                guard let seed = waiting.popFirst() else { break }
                group.addTask { run(hosts: hosts, seed: seed) }
            }
            for await outcome in group {
                ended(outcome)
                if let seed = waiting.popFirst() { group.addTask { run(hosts: hosts, seed: seed) } }
            }
        }
    }

    @Test func `all nodes come to list all others, whatever has happened`() async {
        let first = MembershipSimulationTests.setting("SIMULATION_FIRST_SEED") ?? 0
        let seeds = MembershipSimulationTests.setting("SIMULATION_SEEDS")
        let hosts = MembershipSimulationTests.setting("SIMULATION_NODES") ?? 40
        let range = first..<(first + (seeds ?? 30))
        var seen: [String: Int] = [:]
        var longest = Duration.zero
        var failures = 0
        await MembershipSimulationTests.runAll(hosts: hosts, seeds: range) { outcome in
            #expect(
                outcome.isConverged,
                "seed \(outcome.seed): \(outcome.correct) right and \(outcome.outdated) wrong entries")
            if !outcome.isConverged { failures += 1 }
            longest = max(longest, outcome.time)
            seen.merge(outcome.events) { $0 + $1 }
            if seeds != nil { print("seed \(outcome.seed): \(outcome.steps) steps, settled after \(outcome.time)") }
        }
        print(
            "\(range.count - failures) of \(range.count) networks of \(hosts) nodes settled, the slowest after \(longest); "
                + seen.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
        // Histories in which nothing goes wrong would prove nothing; a few may be so.
        guard range.count >= 20 else { return }
        for event in ["joined", "suspect", "back", "lost", "left"] { #expect(seen[event, default: 0] > 0, "\(event)") }
    }

    @Test func `the same seed gives the same history`() {
        let outcomes = (0..<2).map { _ in MembershipSimulationTests.run(hosts: 20, seed: 4711) }
        #expect(outcomes[0].steps == outcomes[1].steps)
        #expect(outcomes[0].events == outcomes[1].events)
    }
}

extension SimulatedNetwork {
    /// Starts all hosts, together or over a while, and plans misfortunes.
    ///
    /// - Returns: when the last of them is over.
    mutating func populate() -> Duration {
        let spread = 2 * pow(10, uniform(-1...1))
        for host in hosts.indices { schedule(.start(host), after: .seconds(uniform(0...spread))) }
        var last = Duration.seconds(spread)

        for _ in 0..<Int.random(in: 0...(2 + hosts.count / 20), using: &random) {
            let host = Int.random(in: hosts.indices, using: &random)
            let time = Duration.seconds(uniform(1...30))
            if Int.random(in: 0..<5, using: &random) == 0 {
                schedule(.leave(host), after: time)
            } else {
                schedule(.crash(host, isSilent: Bool.random(using: &random)), after: time)
            }
            last = max(last, time)
            if Int.random(in: 0..<4, using: &random) > 0 {
                let back = time + Duration.seconds(uniform(0.2...10))
                schedule(.start(host), after: back)
                last = max(last, back)
            }
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let time = Duration.seconds(uniform(1...30))
            // Most are over before anybody is lost.
            let end =
                time
                + (Int.random(in: 0..<4, using: &random) == 0
                    ? Duration.seconds(uniform(60...120)) : .seconds(uniform(0.5...20)))
            schedule(.split(into: Int.random(in: 2...4, using: &random)), after: time)
            schedule(.heal, after: end)
            last = max(last, end)
        }
        return last
    }

    private mutating func uniform(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
}
