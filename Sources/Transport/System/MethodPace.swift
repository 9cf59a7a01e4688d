import Synchronization

/// How long the calls of a method take, as far as it has been seen.
final class MethodPace: Sendable {
    /// Calls that take no longer on average are brief. Half a batch of them takes about as long as the wake-ups that it saves.
    private static let briefLimit = Duration.microseconds(10)

    private let wasBrief = Atomic<Bool>(false)

    /// Whether the calls of the last batch were brief. Before any call nobody knows.
    var isBrief: Bool { wasBrief.load(ordering: .relaxed) }

    /// So many calls have taken `duration` together.
    func note(_ count: Int, calls duration: Duration) {
        guard count > 0 else { return }
        let isBrief = duration <= MethodPace.briefLimit * count
        if isBrief != self.isBrief { wasBrief.store(isBrief, ordering: .relaxed) }
    }
}
