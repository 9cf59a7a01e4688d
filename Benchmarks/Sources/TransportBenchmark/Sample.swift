import Histogram
import NIOCore

/// What one run of one contestant came to.
struct Sample: Sendable {
    var calls = 0
    var elapsed = Duration.zero
    /// Processor time of the whole process, and so of both ends where both are in it.
    var processorTime = Duration.zero
    /// Nanoseconds of each call; recorded with one call at a time only, where nothing waits for anything else.
    var latencies: Histogram<UInt64>?

    init(recordsLatencies: Bool) {
        if recordsLatencies {
            // A call that takes more than ten seconds is counted as ten.
            latencies = Histogram(highestTrackableValue: Sample.longest, numberOfSignificantValueDigits: .three)
        }
    }

    private static let longest: UInt64 = 10_000_000_000

    mutating func record(from start: NIODeadline, to end: NIODeadline) {
        calls += 1
        guard latencies != nil else { return }
        let nanoseconds = UInt64(max(1, (end - start).nanoseconds))
        latencies?.record(min(nanoseconds, Sample.longest))
    }

    /// Takes in the sample of another caller that ran at the same time.
    mutating func add(_ other: Sample) {
        calls += other.calls
        if let more = other.latencies { latencies?.add(more) }
    }
}
