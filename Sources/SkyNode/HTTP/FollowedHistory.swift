import SkyCore

/// How far a client of server-sent events has followed a job. When the job's coordinator begins anew, here or on another node, it
/// begins a new history, whose events count from 0; so the id of an event names the history, too. A new history begins with what is
/// stored of the job's tasks, so the id also names the tasks whose ends the client has: it gets the others only.
struct FollowedHistory: Sendable {
    /// The number of the first event that the client lacks.
    private(set) var next = 0
    /// The incarnation of the coordinator whose history it is; `nil` while none is known.
    private var generation: UInt64?
    /// What it has of the job's tasks.
    private var seen = SeenEvents()

    /// - Parameter lastEventID: what the client says that it had last: `12`, `4294967297.12`, or `4294967297.12;0-5,7`; `nil` where it
    ///   says nothing.
    init(lastEventID: String?) {
        let halves = lastEventID?.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        guard let parts = halves?.first?.split(separator: ".", omittingEmptySubsequences: false), parts.count <= 2,
            let number = parts.last.flatMap({ Int($0) }), number >= 0
        else { return }
        next = number == .max ? number : number + 1
        guard parts.count == 2 else { return }
        generation = UInt64(parts[0])
        if generation == nil { next = 0 }
        if let halves, halves.count == 2 { seen = SeenEvents(halves[1]) ?? SeenEvents() }
    }

    /// Takes the answer to a question for the events from `next` on.
    ///
    /// - Returns: the events that are new to the client; `nil` where it has to be asked again, because this is another history, or an earlier
    ///   one of a coordinator that has been taken over.
    mutating func take(_ batch: EventBatch) -> ArraySlice<JobEvent>? {
        guard !batch.isOutdated(by: generation) else { return nil }
        let isOther = generation != nil && batch.generation != nil && generation != batch.generation
        generation = batch.generation ?? generation
        if isOther, next > 0 {
            next = 0
            return nil
        }
        next = max(next, batch.next)
        return batch.events[...]
    }

    /// The client gets an event.
    ///
    /// - Returns: the id of the event; `nil` where the client has had it, from this history or another one.
    mutating func show(_ event: JobEvent) -> String? {
        guard seen.insert(event) else { return nil }
        let tasks = "\(seen)"
        return (generation.map { "\($0).\(event.number)" } ?? "\(event.number)") + (tasks.isEmpty ? "" : ";\(tasks)")
    }
}
