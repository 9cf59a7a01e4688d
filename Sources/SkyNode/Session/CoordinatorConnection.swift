import Base
import NIOConcurrencyHelpers
import Sky
import SkyCore
import SkyJobs
import Transport

/// The connection from a command to its coordinator. It is renewed where it is lost, because a node that is started again, as in an
/// upgrade, still has the jobs.
actor CoordinatorConnection {
    private(set) var coordinator: Coordinator
    /// How many times the renewed connection led to another node. That is a node that was started again, and its jobs have a new
    /// history.
    private(set) var restarts = 0
    /// The name of the node that was lost, once the user has been told so.
    private var lostNode: String?
    /// Whether the user has been told that the command waits.
    private var isReported = false
    /// The name of the node that answers, and of the one that had the job when it was last heard of.
    private var node: String?
    private var owner: String?
    /// The task that tries to renew the connection, for all calls that wait for it. It ends by itself and belongs to this actor.
    private var renewal: Task<Void, any Error>?
    private let redial: Redial?
    /// Whether the coordinator is in another process. Its jobs go on without this process then.
    nonisolated let isElsewhere: Bool
    /// The jobs that the coordinator does not take now.
    nonisolated let line = SubmissionLine()
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
    /// How long to wait for jobs that no node takes over by itself: their own one may just be starting again.
    private static let wordTime = Duration.seconds(10)

    /// - Parameters:
    ///   - patience: how long to try to renew the connection; zero where the coordinator is in this process.
    ///   - redial: renews the connection.
    init(_ coordinator: Coordinator, patience: Duration = .zero, redial: Redial? = nil) {
        self.coordinator = coordinator
        self.patience = patience
        self.redial = redial
        isElsewhere = redial != nil
        node = CoordinatorConnection.name(of: coordinator)
    }

    /// The node that answers, as one that has files; `nil` where its name is not known.
    var holder: PixelHolder? { node.map { PixelHolder(node: coordinator.id.node, name: $0) } }

    private static func name(of coordinator: Coordinator) -> String? {
        let system = coordinator.actorSystem
        return system.node == coordinator.id.node
            ? system.name : system.members.first { $0.node == coordinator.id.node }?.name
    }

    /// Asks another node from now on, to which there is a link, because it has the job or can find it.
    func move(to found: Coordinator) {
        guard found.id != coordinator.id else { return }
        coordinator = found
        node = CoordinatorConnection.name(of: found)
    }

    /// Finds a job, and asks the node that has it from now on.
    nonisolated func find(_ body: @Sendable (Coordinator) async throws -> FoundJob) async throws -> JobListing {
        let found = try await call(body)
        await move(to: found.coordinator)
        return found.job
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
    /// - Parameters:
    ///   - isKnown: whether the call is about a job that there was a moment ago.
    ///   - owner: the name of the node that has the job, as the answer says it.
    /// - Throws: what `body` throws, where that is neither a lost connection nor a missing answer, or where the patience is over.
    nonisolated func call<Result: Sendable>(
        aboutKnownJob isKnown: Bool = false, owner: @Sendable (Result) -> String? = { _ in nil },
        _ body: @Sendable (Coordinator) async throws -> Result
    ) async throws -> Result {
        /// Since when it has had no answer.
        var lost: ContinuousClock.Instant?
        while true {
            let coordinator = await coordinator
            do {
                let result = try await body(coordinator)
                answered.withLockedValue { $0 = .now }
                if lost != nil { await recovered(owner(result)) } else if isKnown { await note(owner(result)) }
                return result
            } catch let error as JobUnknownNow {
                let time = error.needsWord ? min(patience, CoordinatorConnection.wordTime) : patience
                let since = lost ?? .now
                lost = since
                guard ContinuousClock.now < since + time, !hasGivenUp.withLockedValue({ $0 }) else { throw error }
                await report(error.message, for: time)
                try await Task.sleep(for: CoordinatorConnection.pause)
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
                if error.mayBeTakenOver { await report(PrintableText.of(error.message), for: time) }
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

    /// Says once that the command waits, and why.
    private func report(_ reason: String, for time: Duration) {
        guard !isReported else { return }
        isReported = true
        say("skynode: \(reason); trying again for \(time.components.seconds) s at most. Ctrl-C ends this, not the job")
    }

    private func note(_ owner: String?) { if let owner { self.owner = owner } }

    /// Says who answers now, after the user was told that nobody did.
    ///
    /// - Parameter now: the name of the node that has the job; `nil` where that is not known.
    private func recovered(_ now: String?) {
        defer {
            (isReported, lostNode) = (false, nil)
            note(now)
        }
        guard isReported else { return }
        let lost = lostNode.map { PrintableText.of($0) }
        if let now, let before = owner ?? lostNode, now != before {
            let before = PrintableText.of(before)
            say(
                "skynode: \(lost == before ? "\(before) was lost; " : "")\(PrintableText.of(now)) goes on with the job")
        } else if let lost, let node, node != lostNode {
            say("skynode: \(lost) was lost; \(PrintableText.of(node)) answers in its place")
        } else if lost != nil {
            say("skynode: the node is back")
        }
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
            if lostNode == nil {
                lostNode = node
                let reason =
                    if (error as? RemoteError)?.kind == .noSuchActor {
                        "the node \(UnopenedJobs.words(of: coordinator))"
                    } else if CoordinatorConnection.isLate(error) {
                        "the node gives no answer in time"
                    } else {
                        "the link to the node was lost (\(PrintableText.of("\(error)")))"
                    }
                report(reason, for: patience)
            }
            let moveTime = answered.withLockedValue { $0 } + CoordinatorConnection.ownTime
            renewal = Task {
                defer { renewal = nil }
                repeat {
                    try await Task.sleep(for: CoordinatorConnection.pause)
                    let known = coordinator
                    guard let found = try await CoordinatorConnection.dial(known, othersAfter: moveTime, redial) else {
                        continue
                    }
                    guard found.id != known.id else { return }
                    move(to: found)
                    restarts += 1
                    return
                } while ContinuousClock.now < limit && !hasGivenUp.withLockedValue { $0 }
                throw error
            }
        }
        try await renewal?.value
    }

    /// Dials the node itself, and others beside it from a time on: a node that hangs takes the connection, and then says nothing for
    /// as long as a handshake may take.
    private static func dial(
        _ known: Coordinator, othersAfter moveTime: ContinuousClock.Instant, _ redial: @escaping Redial
    ) async throws -> Coordinator? {
        @Sendable func attempt(_ mayMove: Bool) async -> Result<Coordinator?, CommandFailure> {
            do {
                return .success(try await redial(known, mayMove))
            } catch {
                // No time mends a credential that was revoked.
                guard LinkCause(error) == .credential else { return .success(nil) }
                return .failure(CommandFailure(.noCluster, PrintableText.of("\(error)")))
            }
        }
        guard ContinuousClock.now < moveTime else { return try await attempt(true).get() }
        let (answers, input) = AsyncStream.makeStream(of: Result<Coordinator?, CommandFailure>.self)
        // These tasks end by themselves, at the latest when a handshake takes too long.
        Task { input.yield(await attempt(false)) }
        let others = Task {
            guard (try? await Task.sleep(until: moveTime, clock: .continuous)) != nil else { return }
            input.yield(await attempt(true))
        }
        defer { others.cancel() }
        var failures = 0
        for await answer in answers {
            if let found = try answer.get() { return found }
            failures += 1
            // A node that refuses at once is dialled again soon.
            if failures == 2 || ContinuousClock.now < moveTime { return nil }
        }
        return nil
    }

    /// Prints a message for the user.
    nonisolated func say(_ text: String) { speaker.withLockedValue { $0 }(text) }
}
