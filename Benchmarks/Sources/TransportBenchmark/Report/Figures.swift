import Histogram

/// What a sample comes to. Times are microseconds.
struct Figures: Codable, Sendable {
    var callsPerSecond: Double
    /// The bytes of both directions together, each counted once.
    var mebibytesPerSecond: Double
    /// Processor time for each call, of this process.
    var processorTime: Double
    /// The latency, with one call at a time only.
    var latency: Latency?

    struct Latency: Codable, Sendable {
        var mean: Double
        var p50: Double
        var p99: Double
        var p999: Double
    }
}

extension Figures {
    init(_ sample: Sample, _ load: Load) {
        let calls = Double(max(1, sample.calls))
        callsPerSecond = calls / max(1e-9, sample.elapsed / .seconds(1))
        mebibytesPerSecond = callsPerSecond * Double(2 * load.bytes) / 1_048_576
        processorTime = sample.processorTime / .microseconds(1) / calls
        latency = sample.latencies.map { histogram in
            Latency(
                mean: histogram.mean / 1000, p50: Double(histogram.valueAtPercentile(50)) / 1000,
                p99: Double(histogram.valueAtPercentile(99)) / 1000,
                p999: Double(histogram.valueAtPercentile(99.9)) / 1000)
        }
    }

    /// The best of each figure by itself: the values that there are when no other program has the processor.
    init(bestOf rounds: [Figures]) {
        self.init(rounds, high: { $0.max() ?? 0 }, low: { $0.min() ?? 0 })
    }

    /// - Parameters:
    ///   - high: makes one figure of those that are better when higher.
    ///   - low: makes one figure of those that are better when lower.
    private init(_ rounds: [Figures], high: ([Double]) -> Double, low: ([Double]) -> Double) {
        callsPerSecond = high(rounds.map(\.callsPerSecond))
        mebibytesPerSecond = high(rounds.map(\.mebibytesPerSecond))
        processorTime = low(rounds.map(\.processorTime))
        let latencies = rounds.compactMap(\.latency)
        if !latencies.isEmpty {
            latency = Latency(
                mean: low(latencies.map(\.mean)), p50: low(latencies.map(\.p50)), p99: low(latencies.map(\.p99)),
                p999: low(latencies.map(\.p999)))
        }
    }
}

extension [Double] {
    /// The median; 0 where there are no values.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        let middle = count / 2
        return count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
