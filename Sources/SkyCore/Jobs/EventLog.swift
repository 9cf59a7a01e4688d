/// The history of one job, as far back as it is kept.
struct EventLog {
    /// Events kept. Whoever watches is at most a moment behind; who comes later gets the end and the totals.
    static let limit = 20_000

    private var events: [JobEvent] = []
    /// Number of the first event still kept.
    private var first = 0

    var nextNumber: Int { first + events.count }

    mutating func append(_ kind: JobEvent.Kind, time: Duration) {
        events.append(JobEvent(number: nextNumber, time: time, kind: kind))
        // Dropped in large steps, so that each event is moved once on average.
        if events.count > 2 * EventLog.limit {
            events.removeFirst(EventLog.limit)
            first += EventLog.limit
        }
    }

    /// Events from `number` on, `count` at most; those that are gone are skipped.
    func events(from number: Int, count: Int) -> ArraySlice<JobEvent> {
        let start = min(max(number, first), nextNumber) - first
        return events[start..<min(events.count, start + max(0, count))]
    }
}
