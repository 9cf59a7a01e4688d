/// Measures how long the work on images spends in each of its stages. At any time the work is in one stage at most.
///
/// The clock is read where a stage begins, a few times for each sector and never for each source or pixel, so that nobody can
/// measure what it costs. Only the one thread of a `SkyEngine` uses it.
package final class StageClock {
    private let now: () -> ContinuousClock.Instant
    private var durations: [ScanStage: Duration] = [:]
    private var current: ScanStage?
    private var since: ContinuousClock.Instant

    /// - Parameter now: The clock, for tests.
    package init(now: @escaping () -> ContinuousClock.Instant = { .now }) {
        self.now = now
        since = now()
    }

    /// Begins a stage, and ends the one before.
    package func enter(_ stage: ScanStage) { change(to: stage) }

    /// Runs `body` as a stage of its own, in the midst of the present one.
    package func during<Result, Failure>(
        _ stage: ScanStage, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outer = current
        change(to: stage)
        defer { change(to: outer) }
        return try body()
    }

    /// Ends the present stage. Returns how long the stages took since the last call, and begins anew.
    package func finish() -> [ScanStage: Duration] {
        change(to: nil)
        defer { durations = [:] }
        return durations
    }

    private func change(to stage: ScanStage?) {
        let time = now()
        if let current { durations[current, default: .zero] += time - since }
        (current, since) = (stage, time)
    }
}
