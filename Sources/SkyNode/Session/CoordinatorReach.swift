import Base
import NIOConcurrencyHelpers
import SkyCore
import Transport

/// The way from a command to its coordinator. Where it is lost it is made again: a node that is started again, as in an
/// upgrade, still has the jobs.
actor CoordinatorReach {
    private(set) var coordinator: Coordinator
    /// How often it led to another node than before: one that was started again, whose jobs have a new history.
    private(set) var restarts = 0
    /// Whether the person has been told that it is lost.
    private var isTold = false
    /// Tries to make it again, for all calls that wait for it; ends by itself, and belongs to this actor.
    private var renewal: Task<Void, any Error>?
    private let redial: Redial?
    /// Whether it is in another process, where its jobs go on without this one.
    nonisolated let isElsewhere: Bool
    private let patience: Duration
    private let hasGivenUp = NIOLockedValueBox(false)
    private let speaker = NIOLockedValueBox<@Sendable (String) -> Void>({ Console.error($0) })

    typealias Redial = @Sendable (Coordinator) async throws -> Coordinator

    /// Time between two tries.
    private static let pause = Duration.milliseconds(250)

    /// - Parameters:
    ///   - patience: how long to try; none where the coordinator is in this process.
    ///   - redial: dials the node of a coordinator once more, unless there is a link to it.
    init(
        _ coordinator: Coordinator, patience: Duration = .zero, redial: Redial? = nil
    ) {
        self.coordinator = coordinator
        self.patience = patience
        self.redial = redial
        isElsewhere = redial != nil
    }

    /// From now on, words go through a display.
    nonisolated func speak(through display: ProgressDisplay) {
        speaker.withLockedValue { $0 = { display.say($0) } }
    }

    /// Nothing is waited for any longer: a way that is lost stays lost.
    nonisolated func giveUp() { hasGivenUp.withLockedValue { $0 = true } }

    /// Calls the coordinator, once more where the way to it is lost: `body` may be done twice.
    ///
    /// - Throws: what `body` throws, where it is not that or where the patience is over.
    nonisolated func call<Result: Sendable>(
        _ body: @Sendable (Coordinator) async throws -> Result
    ) async throws -> Result {
        let start = ContinuousClock.now
        var limit = start
        while true {
            let coordinator = await coordinator
            do {
                let result = try await body(coordinator)
                if limit != start { await recovered() }
                return result
            } catch {
                guard CoordinatorReach.isLoss(error), !Task.isCancelled else { throw error }
                if limit == start { limit = .now + patience }
                try await renew(coordinator, by: limit, error)
            }
        }
    }

    private func recovered() {
        if isTold { speak("skynode: the node is back") }
        isTold = false
    }

    private static func isLoss(_ error: any Error) -> Bool {
        switch error {
        case TransportError.notConnected, TransportError.connectionLost: true
        // It stops, or has not quite started.
        case let error as RemoteError: [.leaving, .cancelled, .noSuchActor].contains(error.kind)
        default: false
        }
    }

    private func renew(_ lost: Coordinator, by limit: ContinuousClock.Instant, _ error: any Error) async throws {
        guard lost.id == coordinator.id else { return }
        guard let redial, ContinuousClock.now < limit else { throw error }
        if renewal == nil {
            if !isTold {
                isTold = true
                speak(
                    "skynode: the link to the node was lost (\(PrintableText.of("\(error)"))); trying again for "
                        + "\(patience.components.seconds) s. Ctrl-C ends this, not the job")
            }
            renewal = Task {
                defer { renewal = nil }
                repeat {
                    try await Task.sleep(for: CoordinatorReach.pause)
                    guard let found = try? await redial(coordinator) else { continue }
                    guard found.id != coordinator.id else { return }
                    coordinator = found
                    restarts += 1
                    return
                } while ContinuousClock.now < limit && !hasGivenUp.withLockedValue { $0 }
                throw error
            }
        }
        try await renewal?.value
    }

    private func speak(_ text: String) { speaker.withLockedValue { $0 }(text) }
}
