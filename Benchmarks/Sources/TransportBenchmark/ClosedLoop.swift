import NIOCore

/// Drives a contestant whose calls are `async`: as many callers as the load has calls in flight, each making one after
/// the other.
enum ClosedLoop {
    static func run(
        _ load: Load, for duration: Duration, _ call: @escaping @Sendable () async throws -> Void
    ) async throws -> Sample {
        let clock = ContinuousClock()
        let begin = clock.now
        let processorTime = ProcessorTime.now
        let end = NIODeadline.now() + TimeAmount(duration)
        let isLatency = load.window == 1
        var total = try await withThrowingTaskGroup(of: Sample.self) { group in
            for _ in 0..<load.window {
                group.addTask {
                    var sample = Sample(recordsLatencies: isLatency)
                    var start = NIODeadline.now()
                    while start < end {
                        try await call()
                        let now = NIODeadline.now()
                        sample.record(from: start, to: now)
                        start = now
                    }
                    return sample
                }
            }
            return try await group.reduce(into: Sample(recordsLatencies: isLatency)) { $0.add($1) }
        }
        total.elapsed = begin.duration(to: clock.now)
        total.processorTime = ProcessorTime.now - processorTime
        return total
    }
}
