import Base
import NIOConcurrencyHelpers
import SkyCore
import Transport

/// Watches one job to its end, and cancels it when the command is interrupted. It carries out the actions of a `WatchedJob`.
struct JobWatch {
    let coordinator: CoordinatorConnection
    /// Sends the files of jobs that only this machine has; `nil` for jobs without files.
    var sender: InputSender?

    /// Submits a job and follows it. `observe` receives all its events, in order. A job that the coordinator does not take now waits.
    ///
    /// - Parameter failed: a job in whose place this one is submitted. It is deleted then: nobody can do anything with it.
    /// - Throws: `CommandFailure` where the coordinator refuses the job or is lost.
    func run(
        _ submission: Submission, replacing failed: JobID? = nil, interrupts: Interrupts,
        observe: @escaping @Sendable (EventBatch) async -> Void
    ) async throws -> (job: JobID, report: JobReport) {
        let started = try await start(submission, interrupts)
        // Others may be taken in its place then, and also where it is lost.
        defer { coordinator.line.jobEnded() }
        let job = started.job
        if let failed { try? await coordinator.call { try await $0.delete(failed) } }
        // A job in a node inside this command ends with the command.
        var watched = WatchedJob(job, outlivesCommand: coordinator.isElsewhere)
        let actions = watched.handle(.submitted(started.batch, restarts: await coordinator.restarts))
        guard coordinator.isElsewhere, watched.state != .ended else {
            return (job, try await report(watched, actions, interrupts, observe))
        }
        let state = watched
        return try await interrupts.whileRunning(job) {
            (job, try await report(state, actions, interrupts, observe))
        }
    }

    private func start(_ submission: Submission, _ interrupts: Interrupts) async throws -> StartedJob {
        @Sendable func start(_ request: JobRequest) async throws -> StartedJob {
            var submission = submission
            submission.request = request
            return try await start(submission)
        }
        @Sendable func start(_ submission: Submission) async throws -> StartedJob {
            try await coordinator.line.submit(interrupts, say: coordinator.say) { [coordinator] in
                try await interrupts.whileSubmitting { try await JobHandover.start(submission, at: coordinator) }
            }
        }
        guard let sender else { return try await start(submission) }
        do {
            return try await sender.submit(submission.request, interrupts, start)
        } catch let error as SkyError {
            throw CommandFailure(.usage, PrintableText.of(error.message), refusal: .lasting)
        }
    }

    /// Follows a job that was submitted before.
    ///
    /// - Parameter interrupts: the interrupts that cancel the job; `nil` where an interrupt only ends the following.
    func attach(
        _ job: JobID, interrupts: Interrupts?, observe: @escaping @Sendable (EventBatch) async -> Void
    ) async throws -> JobReport {
        var watched = WatchedJob(job, outlivesCommand: false)
        let actions = watched.handle(.attached(restarts: await coordinator.restarts))
        return try await report(watched, actions, interrupts, observe)
    }

    private func report(
        _ watched: WatchedJob, _ actions: [WatchedJob.Action], _ interrupts: Interrupts?,
        _ observe: @escaping @Sendable (EventBatch) async -> Void
    ) async throws -> JobReport {
        // An interrupt may come while a request is under way, which is answered only when something happens.
        let state = NIOLockedValueBox(watched)
        return try await withThrowingTaskGroup(of: JobReport?.self) { group in
            group.addTask { try await carryOut(actions, state, interrupts, observe) }
            group.addTask {
                guard let interrupts, await interrupts.first() else { return nil }
                let actions = state.withLockedValue { $0.handle(.interrupted) }
                return try await carryOut(actions, state, interrupts, observe)
            }
            // The end of the job ends the wait for Ctrl-C. An interrupt only cancels the job, and the job's end follows.
            while let result = try await group.next() {
                if let result {
                    group.cancelAll()
                    return result
                }
            }
            throw CommandFailure(.noCluster, "the coordinator went away")
        }
    }

    /// Carries out actions, and those that follow from them. Returns when there are none left, with the report if the job has
    /// ended.
    private func carryOut(
        _ first: [WatchedJob.Action], _ state: NIOLockedValueBox<WatchedJob>, _ interrupts: Interrupts?,
        _ observe: @Sendable (EventBatch) async -> Void
    ) async throws -> JobReport? {
        var actions = first[...]
        while let action = actions.popFirst() {
            switch action {
            case .observe(let batch): await observe(batch)
            case .ask:
                let event = try await ask(state, interrupts)
                actions += state.withLockedValue { $0.handle(event) }
            case .stopReconnecting: coordinator.giveUp()
            case .cancel: await cancel(state.withLockedValue { $0.job }, interrupts)
            case .finish(let report): return report
            case .fail(let failure): throw failure
            case .leave: throw CommandFailure(.cancelled, interrupts?.remains.joined(separator: "\n"))
            }
        }
        return nil
    }

    /// - Throws: `CancellationError`.
    private func ask(
        _ state: NIOLockedValueBox<WatchedJob>, _ interrupts: Interrupts?
    ) async throws -> WatchedJob.Event {
        do {
            let isKnown = state.withLockedValue { $0.isKnown }
            let (batch, restarts) = try await coordinator.call(
                aboutKnownJob: isKnown, owner: { $0.0.node }
            ) { [coordinator] node in
                let restarts = await coordinator.restarts
                let request = state.withLockedValue { $0.request(restarts: restarts) }
                return (try await node.events(request), restarts)
            }
            return .answered(batch, restarts: restarts)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let reason = (error as? CommandFailure)?.message ?? "\(error)"
            return .connectionLost(reason: reason, isInterrupted: interrupts?.wasInterrupted ?? false)
        }
    }

    private func cancel(_ job: JobID, _ interrupts: Interrupts?) async {
        do {
            try await coordinator.call(aboutKnownJob: true) { try await $0.cancel(job) }
        } catch let error as RemoteError {
            interrupts?.couldNotCancel(error.message)
        } catch {
            // The node is lost. The code that follows the job notices that as well.
        }
    }
}
