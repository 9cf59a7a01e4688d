/// What our transport is to reach, as a ratio between two contestants. Each round gives one ratio, of two runs that
/// followed one another closely; their median counts.
struct Target: Sendable {
    enum Goal: Sendable {
        case atLeast(Double)
        case atMost(Double)

        func isMet(by value: Double) -> Bool {
            switch self {
            case .atLeast(let limit): value >= limit
            case .atMost(let limit): value <= limit
            }
        }
    }

    var title: String
    var load: Load
    var ours: String
    /// Where several are named, the best of them in each round.
    var theirs: [String]
    var goal: Goal
    /// Larger is better for what `atLeast` is asked of, smaller for the other.
    var figure: @Sendable (Figures) -> Double?

    /// `nil` where one of the two was not measured.
    func value(in results: Results) -> Double? {
        guard let ours = results.row(ours, load) else { return nil }
        let theirs = theirs.compactMap { results.row($0, load) }
        let ratios = ours.rounds.indices.compactMap { round -> Double? in
            let others = theirs.compactMap { $0.rounds.indices.contains(round) ? figure($0.rounds[round]) : nil }
            let best =
                switch goal {
                case .atLeast: others.max()
                case .atMost: others.min()
                }
            guard let value = figure(ours.rounds[round]), let best, best > 0 else { return nil }
            return value / best
        }
        return ratios.isEmpty ? nil : ratios.median
    }

    static let all = [
        Target(
            title: "small calls/s, 64 in flight, of grpc-swift's (the better of two)", load: .throughput,
            ours: Names.array, theirs: [Names.grpc, Names.grpcWithoutDelay], goal: .atLeast(15),
            figure: { $0.callsPerSecond }),
        Target(
            title: "latency (p50), one at a time, of raw NIO's", load: .latency, ours: Names.array,
            theirs: [Names.raw], goal: .atMost(3.5), figure: { $0.latency?.p50 }),
        Target(
            title: "1 MiB/s, 4 in flight, of raw NIO's", load: .bulk, ours: Names.buffer, theirs: [Names.raw],
            goal: .atLeast(0.7), figure: { $0.callsPerSecond }),
        Target(
            title: "small calls/s over TLS, of plain TCP's", load: .throughput, ours: Names.secureArray,
            theirs: [Names.array], goal: .atLeast(0.6), figure: { $0.callsPerSecond }),
    ]
}
