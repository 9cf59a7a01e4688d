/// All that was measured.
struct Results: Codable, Sendable {
    /// One contestant under one load.
    struct Row: Codable, Sendable {
        var contestant: String
        var load: Load
        var rounds: [Figures] = []
        /// Calls of the allocator for each call, of this process.
        var allocations: Double?

        var best: Figures { Figures(bestOf: rounds) }
    }

    /// Whether the other end was a process of its own, whose processor time and allocations are then not in here.
    var twoProcesses: Bool
    var secondsPerRound: Double
    /// What it was measured on; see `Processor`.
    var processor: String
    var rows: [Row] = []

    /// Grows with each round, so that row and round of any two contestants can be compared.
    mutating func add(_ sample: Sample, _ contestant: String, _ load: Load) {
        rows[index(contestant, load)].rounds.append(Figures(sample, load))
    }

    mutating func set(allocations: Double, _ contestant: String, _ load: Load) {
        rows[index(contestant, load)].allocations = allocations
    }

    func row(_ contestant: String, _ load: Load) -> Row? {
        rows.first { $0.contestant == contestant && $0.load == load }
    }

    private mutating func index(_ contestant: String, _ load: Load) -> Int {
        if let index = rows.firstIndex(where: { $0.contestant == contestant && $0.load == load }) { return index }
        rows.append(Row(contestant: contestant, load: load))
        return rows.count - 1
    }
}
