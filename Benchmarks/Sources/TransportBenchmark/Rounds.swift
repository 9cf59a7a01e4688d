import CAllocationCount

/// Lets the contestants take turns, round after round (A B C, B C A, ...), so that a machine that is busy for a while with
/// something else does not always hit the same one.
struct Rounds {
    var contestants: [any Contestant]
    var loads: [Load]
    var count: Int
    var duration: Duration
    /// Called before each step with its name, for a person who waits.
    var progress: (String) -> Void

    func run(into results: inout Results) async throws {
        progress("warming up")
        for load in loads {
            for contestant in contestants { _ = try await contestant.run(load, for: .milliseconds(300)) }
        }
        for round in 0..<count {
            progress("round \(round + 1) of \(count)")
            for load in loads {
                for turn in contestants.indices {
                    let contestant = contestants[(turn + round) % contestants.count]
                    results.add(try await contestant.run(load, for: duration), contestant.name, load)
                }
            }
        }
        progress("counting allocations")
        for load in loads {
            for contestant in contestants {
                allocation_count_start()
                let sample = try await contestant.run(load, for: .milliseconds(300))
                let allocations = allocation_count_stop()
                results.set(allocations: Double(allocations) / Double(max(1, sample.calls)), contestant.name, load)
            }
        }
    }
}
