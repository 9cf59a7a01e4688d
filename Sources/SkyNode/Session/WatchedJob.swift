import Base
import SkyCore
import Transport

/// Decides what a command does next with a job that it watches: what it asks the coordinator, what it shows, and what follows an
/// interrupt or a lost connection.
struct WatchedJob: Sendable {
    enum State: Equatable, Sendable {
        case following
        /// The command was interrupted. The job has to be cancelled, and its end is still to come.
        case cancelling
        case ended
        /// Nothing more can be learnt about the job.
        case lost
    }

    enum Event: Sendable {
        /// The coordinator has stored the job, and reports what has happened to it already.
        case submitted(EventBatch, restarts: Int)
        /// The job was submitted before, by this user or by somebody else.
        case attached(restarts: Int)
        /// An answer to `request`.
        case answered(EventBatch, restarts: Int)
        /// The command was asked to stop.
        case interrupted
        /// The connection to the coordinator was lost and could not be renewed.
        case connectionLost(reason: String, isInterrupted: Bool)
    }

    enum Action: Sendable {
        /// Show these events.
        case observe(EventBatch)
        /// Send `request`, which is answered when there are further events.
        case ask
        /// Stop waiting for a node that is lost.
        case stopReconnecting
        case cancel
        case finish(JobReport)
        case fail(CommandFailure)
        /// End without knowing how the job ended, and say what may go on.
        case leave
    }

    let job: JobID
    private(set) var state = State.following
    /// Whether the job was submitted by this command and goes on without it, in another process.
    private let outlivesCommand: Bool
    /// The number of the first event that has not been seen, in the history that the coordinator began after `restarts` restarts.
    private var next = 0
    private var restarts = 0
    /// The incarnation of the coordinator that answered last.
    private var generation: UInt64?
    /// Whether a coordinator has answered for the job.
    private(set) var isKnown = false
    /// The names of events that have been shown and come once in a job.
    private var shown: Set<String> = []
    /// What has been shown of its tasks, by whichever coordinators had the job.
    private var seen = SeenEvents()

    init(_ job: JobID, outlivesCommand: Bool) {
        self.job = job
        self.outlivesCommand = outlivesCommand
    }

    /// The next request to a coordinator that has been started again `restarts` times.
    func request(restarts: Int) -> EventsRequest {
        // A coordinator begins its history anew when it is started again.
        EventsRequest(job: job, from: restarts == self.restarts ? next : 0)
    }

    mutating func handle(_ event: Event) -> [Action] {
        guard state == .following || state == .cancelling else { return [] }
        if case .answered = event { isKnown = true }
        switch event {
        case .submitted(let batch, let restarts):
            isKnown = true
            generation = batch.generation
            (next, self.restarts) = (batch.next, restarts)
            return [.observe(unseen(batch))] + askOrFinish(batch.report)
        case .attached(let restarts):
            self.restarts = restarts
            return [.ask]
        case .answered(let batch, let restarts) where batch.isOutdated(by: generation):
            self.restarts = restarts
            return [.ask]
        case .answered(let batch, let restarts):
            if generation != nil, batch.generation == generation, restarts != self.restarts, next > 0 {
                // Another node answers for the coordinator, which goes on: what was asked for from its first event was seen.
                self.restarts = restarts
                return [.ask]
            }
            if let generation = batch.generation, let known = self.generation, generation != known, next > 0,
                restarts == self.restarts
            {
                // Another node has taken the job over, and counts its events anew.
                (next, self.generation) = (0, generation)
                return [.ask]
            }
            generation = batch.generation ?? generation
            (next, self.restarts) = (batch.next, restarts)
            let report = batch.report
            return [.observe(unseen(batch))] + askOrFinish(report)
        case .interrupted:
            guard state == .following else { return [] }
            state = .cancelling
            return [.stopReconnecting, .cancel]
        case .connectionLost(let reason, let isInterrupted):
            state = .lost
            guard !outlivesCommand || !isInterrupted else { return [.leave] }
            return [
                .fail(
                    CommandFailure(
                        .noCluster,
                        "the node that coordinates the job was lost (\(PrintableText.of(reason))); where it runs or is "
                            + "started again, the job goes on: skynode jobs watch \(job)"))
            ]
        }
    }

    /// The history of a coordinator that was started again, or has taken the job over, begins with what is stored of it, and contains what
    /// comes once a second time.
    private mutating func unseen(_ batch: EventBatch) -> EventBatch {
        var batch = batch
        batch.events.removeAll { event in
            if case .special(let special) = event.kind, special.comesOnce, !shown.insert(special.name).inserted {
                return true
            }
            return !seen.insert(event)
        }
        return batch
    }

    private mutating func askOrFinish(_ report: JobReport?) -> [Action] {
        guard let report else { return [.ask] }
        state = .ended
        return [.finish(report)]
    }
}

extension EventBatch {
    /// The report of the job's end, if that is among the events; otherwise `nil`.
    fileprivate var report: JobReport? {
        for event in events { if case .ended(let report) = event.kind { return report } }
        return nil
    }
}
