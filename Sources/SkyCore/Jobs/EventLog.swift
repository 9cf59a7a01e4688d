/// The history of one job, as far back as it is kept.
struct EventLog {
    /// How many events are kept. A watcher is at most a moment behind. One that comes later gets the end and the totals.
    static let limit = 20_000

    private var events: [JobEvent] = []
    /// The number of the first event that is still kept.
    private var first = 0

    var nextNumber: Int { first + events.count }

    mutating func append(_ kind: JobEvent.Kind, time: Duration) {
        events.append(JobEvent(number: nextNumber, time: time, kind: kind))
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
