/// The history of one job, as far back as it is kept.
struct EventLog {
    /// How many events are kept. A watcher is at most a moment behind. One that comes later gets the end and the totals.
    static let limit = 20_000

    private var events: [JobEvent] = []
    /// The number of the first event that is still kept.
    private var first = 0
    /// The number of the first event of this incarnation. Those before it were restored: an earlier incarnation stored them, and may
    /// not have shown all of them.
    private(set) var firstOwn = 0
    /// Whether the events of the tasks are in the journal only, because the job had ended before this incarnation began.
    private(set) var isUnread = false

    var nextNumber: Int { first + events.count }

    init() {}

    /// The history of a job that an earlier incarnation has brought to an end, without the events of its tasks.
    init(unread report: JobReport) {
        isUnread = true
        append(.ended(report), time: report.duration)
        firstOwn = nextNumber
    }

    /// What has been appended so far was stored by an earlier incarnation.
    mutating func markRestored() { firstOwn = nextNumber }

    mutating func append(_ kind: JobEvent.Kind, of task: Int? = nil, time: Duration) {
        events.append(JobEvent(number: nextNumber, time: time, kind: kind, task: task))
        // Events are dropped in large steps, so that each event is moved once on average.
        if events.count > 2 * EventLog.limit {
            events.removeFirst(EventLog.limit)
            first += EventLog.limit
        }
    }

    /// Returns the events from `number` on, `count` at most. Events that are no longer kept are skipped.
    func events(from number: Int, count: Int) -> ArraySlice<JobEvent> {
        let start = min(max(number, first), nextNumber) - first
        return events[start..<min(events.count, start + max(0, count))]
    }
}

/// The events of a job that somebody has seen, by their tasks. Each task has one end, and at most one event that follows from it, so
/// nothing is shown twice and nothing is left out where another coordinator goes on with the job and begins its history anew.
package struct SeenEvents: Sendable {
    /// The tasks whose ends were seen, and those of which the event was that follows from it.
    private var ends: RangeSet<Int>
    private var consequences: RangeSet<Int>

    /// Tasks end nearly in order, so there are few gaps. Somebody who sends events with gaps only cannot fill the memory; what is not
    /// remembered is shown twice at worst.
    private static let rangeLimit = 1 << 16
    /// The gaps that an event's id names. A task behind them may be shown twice.
    private static let namedLimit = 32

    package init() { (ends, consequences) = (RangeSet(), RangeSet()) }

    /// - Parameter text: what `description` has returned: `0-40,43`.
    package init?(_ text: some StringProtocol) {
        self.init()
        for part in text.split(separator: ",", maxSplits: SeenEvents.namedLimit) {
            let bounds = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard bounds.count <= 2, let first = bounds.first ?? nil, let last = bounds.last ?? nil,
                SeenEvents.isIndex(first), SeenEvents.isIndex(last), first <= last
            else { return nil }
            ends.insert(contentsOf: first..<last + 1)
        }
        // What follows from the end of a task comes with it.
        consequences = ends
    }

    private static func isIndex(_ task: Int) -> Bool { (0..<TaskID.countLimit).contains(task) }

    /// Notes an event.
    ///
    /// - Returns: whether it was not seen before. Events that are about no task are always new.
    package mutating func insert(_ event: JobEvent) -> Bool {
        guard let task = event.task, SeenEvents.isIndex(task) else { return true }
        switch event.kind {
        case .completed, .failed: return SeenEvents.insert(task, into: &ends)
        case .special: return SeenEvents.insert(task, into: &consequences)
        case .retrying, .ended: return true
        }
    }

    private static func insert(_ task: Int, into tasks: inout RangeSet<Int>) -> Bool {
        guard !tasks.contains(task) else { return false }
        if tasks.ranges.count < rangeLimit { tasks.insert(contentsOf: task..<task + 1) }
        return true
    }
}

extension SeenEvents: CustomStringConvertible {
    /// The tasks whose ends were seen, the first gaps only.
    package var description: String {
        ends.ranges.prefix(SeenEvents.namedLimit).map {
            $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound - 1)"
        }.joined(separator: ",")
    }
}
