import Glibc

/// How long a run may take, in this process's own time, so that a busy machine makes no run slower. libFuzzer's own limit counts
/// seconds.
struct RunLimit {
    var nanoseconds: UInt64

    static let none = RunLimit(nanoseconds: .max)
    /// A person who waits for a coordinator or a node to decide would notice more than this.
    static let brief = RunLimit(nanoseconds: 100_000_000)

    static func processorTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    func check(since start: UInt64) {
        guard nanoseconds < .max else { return }
        let took = RunLimit.processorTime() - start
        require(took <= nanoseconds, "a run of \(took / 1_000_000) ms ends within \(nanoseconds / 1_000_000) ms")
    }
}
