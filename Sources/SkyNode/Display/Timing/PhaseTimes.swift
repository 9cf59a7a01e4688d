import Sky
import SkyCore

/// When the phases of a scan ended, gathered from the events of its job. A phase begins where the one before ends.
struct PhaseTimes: Sendable {
    /// The last piece of work of a phase.
    struct End: Equatable, Sendable {
        /// Seconds since the job was submitted.
        var seconds: Double
        /// The node that did it; empty for an earlier result, `nil` for work that failed.
        var node: String?
    }

    private(set) var ends: [ScanPhase: End] = [:]
    /// The number of tasks that nodes completed, and of those that earlier results answered.
    private(set) var completed = 0
    private(set) var cached = 0
    /// How many of the completed ones read a header, which no earlier result answers.
    private(set) var headers = 0
    /// Whether the coordinator was started again meanwhile. The times of what it had stored before are not known then.
    private(set) var isInterrupted = false
    private var last = -1

    mutating func add(_ event: JobEvent) {
        if event.number <= last {
            // A coordinator that is started again tells its history once more, from the beginning.
            self = PhaseTimes()
            isInterrupted = true
        }
        last = event.number
        switch event.kind {
        case .completed(let task, let node):
            if node.isEmpty { cached += 1 } else { completed += 1 }
            if ScanPhase(ofWork: task) == .header { headers += 1 }
            add(task, End(seconds: event.time.inSeconds, node: node))
        case .failed(let task, reason: _):
            add(task, End(seconds: event.time.inSeconds, node: nil))
        case .retrying, .special, .ended: break
        }
    }

    private mutating func add(_ task: String, _ end: End) {
        guard let phase = ScanPhase(ofWork: task), end.seconds >= ends[phase]?.seconds ?? 0 else { return }
        ends[phase] = end
    }
}
