/// What our transport is to reach, as a ratio between two contestants.
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
    /// The contestants to compare with. Where several are named, the better of them counts.
    var theirs: [String]
    /// `nil` for a ratio that is only shown.
    var goal: Goal?
    var figure: @Sendable (Figures) -> Double?
    var isBetterWhenHigher = true

    /// The ratio of the rows' best figures; `nil` where one of the two was not measured.
    func ofBest(in results: Results) -> Double? {
        ratio(results.row(ours, load)?.best, theirs.compactMap { results.row($0, load)?.best })
    }

    /// The median of the ratios within each round, to that one of theirs for which it is worse. The turns of a round are seconds
    /// apart at most. So on a machine that is fast for a while and then slow, the fast turns of one contestant are not compared
    /// with the slow turns of another.
    func ofRounds(in results: Results) -> Double? {
        guard let ours = results.row(ours, load)?.rounds else { return nil }
        let medians = theirs.compactMap { name -> Double? in
            guard let theirs = results.row(name, load)?.rounds else { return nil }
            let ratios = zip(ours, theirs).compactMap { ratio($0, [$1]) }
            return ratios.isEmpty ? nil : ratios.median
        }
        return isBetterWhenHigher ? medians.min() : medians.max()
    }

    private func ratio(_ ours: Figures?, _ theirs: [Figures]) -> Double? {
        let theirs = theirs.compactMap(figure)
        guard let ours = ours.flatMap(figure), let best = isBetterWhenHigher ? theirs.max() : theirs.min(), best > 0
        else { return nil }
        return ours / best
    }

    /// Whether the target is missed, judged by the rounds.
    func isMissed(in results: Results) -> Bool {
        guard let goal, let value = ofRounds(in: results) else { return false }
        return !goal.isMet(by: value)
    }
}

extension Target {
    private static let grpc = [Names.grpc, Names.grpcWithoutDelay]

    static let all = [
        Target(
            title: "small calls/s, 64 in flight, to grpc-swift (the better of two)", load: .throughput,
            ours: Names.array, theirs: grpc, goal: .atLeast(20), figure: { $0.callsPerSecond }),
        Target(
            title: "CPU time of such a call, to grpc-swift", load: .throughput, ours: Names.array, theirs: grpc,
            figure: { $0.processorTime }, isBetterWhenHigher: false),
        Target(
            title: "latency (p50), one at a time, to raw NIO", load: .latency, ours: Names.array,
            theirs: [Names.raw], goal: .atMost(2.8), figure: { $0.latency?.p50 }, isBetterWhenHigher: false),
        Target(
            title: "1 MiB ByteBuffers/s, 4 in flight, to raw NIO", load: .bulk, ours: Names.buffer,
            theirs: [Names.raw], goal: .atLeast(0.7), figure: { $0.callsPerSecond }),
        Target(
            title: "1 MiB [UInt8]s/s, 4 in flight, to raw NIO", load: .bulk, ours: Names.array, theirs: [Names.raw],
            goal: .atLeast(0.6), figure: { $0.callsPerSecond }),
        Target(
            title: "small calls/s over TLS, 64 in flight, to plain TCP", load: .throughput, ours: Names.secureArray,
            theirs: [Names.array], goal: .atLeast(0.6), figure: { $0.callsPerSecond }),
    ]
}

/// How often a small call of our transport, one of many in flight, may ask the allocator. That is no ratio: the number hardly differs
/// between machines.
enum AllocationTarget {
    static let title = "allocations of a small call, 64 in flight"
    static let limit = 10.0

    /// `nil` where that was not measured.
    static func figure(in results: Results) -> Double? { results.row(Names.array, .throughput)?.allocations }

    static func isMissed(in results: Results) -> Bool { figure(in: results).map { $0 >= limit } ?? false }
}
