import SkyCore

/// How fast a job goes, over the last ten seconds or so. The mean since its start would promise too much about a job that has been
/// resumed, or that lost its nodes.
struct ProgressRate {
    private static let window = 10.0
    /// The times are in seconds, as floating point: a peer's times need not make sense, and floating point bears that.
    private var samples: [(at: Double, completed: Int)] = []

    mutating func note(_ status: JobStatus) {
        let (now, completed) = (status.elapsed.inSeconds, status.completed.asCount)
        // An earlier incarnation of the coordinator may have been ahead.
        if let last = samples.last, now <= last.at || completed < last.completed { samples = [] }
        samples.append((now, completed))
        while samples.count > 2, samples[1].at < now - ProgressRate.window { samples.removeFirst() }
    }

    /// Tasks a second; `nil` while it cannot be known.
    var tasksPerSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.at > first.at else { return nil }
        return Double(last.completed - first.completed) / (last.at - first.at)
    }
}

extension Int {
    /// A peer's count made fit for arithmetic: nothing counted here comes near 2^40.
    var asCount: Int { Swift.min(Swift.max(0, self), 1 << 40) }
}
