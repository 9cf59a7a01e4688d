import Base
import NIOConcurrencyHelpers
import SkyCore
import Transport

/// The connection from a command to its coordinator. It is renewed where it is lost, because a node that is started again, as in an
/// upgrade, still has the jobs.
actor CoordinatorConnection {
    private(set) var coordinator: Coordinator
    /// How many times the renewed connection led to another node. That is a node that was started again, and its jobs have a new
    /// history.
    private(set) var restarts = 0
    /// Whether the user has been told that the connection is lost.
    private var isReported = false
    /// The task that tries to renew the connection, for all calls that wait for it. It ends by itself and belongs to this actor.
    private var renewal: Task<Void, any Error>?
    private let redial: Redial?
    /// Whether the coordinator is in another process. Its jobs go on without this process then.
    nonisolated let isElsewhere: Bool
    private let patience: Duration
    private let answered = NIOLockedValueBox(ContinuousClock.now)
    private let hasGivenUp = NIOLockedValueBox(false)
    private let speaker = NIOLockedValueBox<@Sendable (String) -> Void>({ Console.error($0) })

    /// Dials the node of a coordinator again, unless there is a link to it, or else another node, through which its jobs can be
    /// reached.
    typealias Redial = @Sendable (_ known: Coordinator, _ mayMove: Bool) async throws -> Coordinator

    /// How long after its last answer only the node itself is dialled: a service that is started again is back by then. A node that
    /// has been silent for longer when that is noticed is off the network, or hangs.
    private static let ownTime = Duration.seconds(3)
    /// Pause between two attempts to renew the connection.
    private static let pause = Duration.milliseconds(250)
    /// How long no node may have a job that there was a moment ago: another node takes it over, and has to read its journal. A job
    /// that somebody has deleted is given up then.
    private static let movingTime = Duration.seconds(20)

    /// - Parameters:
    ///   - patience: how long to try to renew the connection; zero where the coordinator is in this process.
    ///   - redial: renews the connection.
    init(
        _ coordinator: Coordinator, patience: Duration = .zero, redial: Redial? = nil
    ) {
        self.coordinator = coordinator
        self.patience = patience
        self.redial = redial
        isElsewhere = redial != nil
    }

    /// Sends all messages through a display from now on.
    nonisolated func speak(through display: ProgressDisplay) {
        speaker.withLockedValue { $0 = { display.say($0) } }
    }

    /// Stops waiting. A connection that is lost stays lost from now on.
    nonisolated func giveUp() { hasGivenUp.withLockedValue { $0 = true } }

    /// Calls the coordinator, and calls it again where the connection was lost or no answer came in time. So `body` may run twice.
    /// The second time, it may be another node that answers for the coordinator.
    ///
    /// - Parameter isKnown: whether the call is about a job that there was a moment ago.
    /// - Throws: what `body` throws, where that is neither a lost connection nor a missing answer, or where the patience is over.
    nonisolated func call<Result: Sendable>(
        aboutKnownJob isKnown: Bool = false, _ body: @Sendable (Coordinator) async throws -> Result
    ) async throws -> Result {
        /// Since when it has had no answer.
        var lost: ContinuousClock.Instant?
        while true {
            let coordinator = await coordinator
            do {
                let result = try await body(coordinator)
                answered.withLockedValue { $0 = .now }
                if lost != nil { await recovered() }
                return result
            } catch let error as RemoteError where error.isAboutUnknownJob {
                // Another node is about to take the job over, if it was there, or if this is not the node that was asked at first.
                let hasMoved = await restarts > 0
                guard hasMoved || isKnown || error.mayBeTakenOver else { throw error }
                // A node that says that jobs are at no node for now knows better than a clock how long that lasts.
                let isMoving = hasMoved || error.mayBeTakenOver
                let time = isMoving ? patience : min(patience, CoordinatorConnection.movingTime)
                let since = lost ?? .now
                lost = since
                guard ContinuousClock.now < since + time, !hasGivenUp.withLockedValue({ $0 }) else { throw error }
                try await Task.sleep(for: CoordinatorConnection.pause)
            } catch {
                guard CoordinatorConnection.isLostConnection(error), !Task.isCancelled else { throw error }
                // A node that is only slow is asked again, but not for somebody who has stopped waiting.
                if CoordinatorConnection.isLate(error), hasGivenUp.withLockedValue({ $0 }) { throw error }
                let since = lost ?? .now
                lost = since
                try await renew(coordinator, by: since + patience, error)
            }
        }
    }

    private func recovered() {
        if isReported { speak("skynode: the node is back") }
        isReported = false
    }

    private static func isLostConnection(_ error: any Error) -> Bool {
        switch error {
        case TransportError.notConnected, TransportError.connectionLost: true
        // Where its disk or its processor is that busy. What it was asked for may be done.
        case TransportError.deadlineExceeded: true
        // The node is stopping, or has not completely started.
        case let error as RemoteError: [.leaving, .cancelled, .noSuchActor].contains(error.kind)
        default: false
        }
    }

    private static func isLate(_ error: any Error) -> Bool {
        if case TransportError.deadlineExceeded = error { true } else { false }
    }

    private func renew(_ lost: Coordinator, by limit: ContinuousClock.Instant, _ error: any Error) async throws {
        guard lost.id == coordinator.id else { return }
        guard let redial, ContinuousClock.now < limit else { throw error }
        if renewal == nil {
            if !isReported {
                isReported = true
                let reason =
                    if (error as? RemoteError)?.kind == .noSuchActor {
                        "the node \(UnopenedJobs.words)"
                    } else if CoordinatorConnection.isLate(error) {
                        "the node gives no answer in time"
                    } else {
                        "the link to the node was lost (\(PrintableText.of("\(error)")))"
                    }
                speak(
                    "skynode: \(reason); trying again for \(patience.components.seconds) s. Ctrl-C ends this, not the job"
                )
            }
            let moveTime = answered.withLockedValue { $0 } + CoordinatorConnection.ownTime
            renewal = Task {
                defer { renewal = nil }
                repeat {
                    try await Task.sleep(for: CoordinatorConnection.pause)
                    let mayMove = ContinuousClock.now >= moveTime
                    let found: Coordinator
                    do {
                        found = try await redial(coordinator, mayMove)
                    } catch {
                        // No time mends a credential that was revoked.
                        guard LinkCause(error) == .credential else { continue }
                        throw CommandFailure(.noCluster, PrintableText.of("\(error)"))
                    }
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
