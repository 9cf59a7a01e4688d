import Base
import SkyCore
import Transport

/// Follows one job to its end, and cancels it when the command is interrupted. Where the way to the coordinator is lost, the
/// job goes on.
struct JobWatch {
    let coordinator: CoordinatorReach

    /// Submits and follows; `observe` hears everything that happens, in order.
    ///
    /// - Throws: `CommandFailure` where the coordinator refuses the job or is lost.
    func run(
        _ submission: Submission, interrupts: Interrupts,
        observe: @escaping @Sendable (EventBatch) async -> Void
    ) async throws -> (job: JobID, report: JobReport) {
        let started = try await interrupts.whileSubmitting { try await JobHandover.start(submission, at: coordinator) }
        await observe(started.batch)
        let job = started.job
        if let report = started.batch.report { return (job, report) }
        // One of a node inside this command ends with it.
        guard coordinator.isElsewhere else {
            return (job, try await report(of: job, from: started.batch.next, interrupts, observe))
        }
        return try await interrupts.whileRunning(job) {
            do {
                return (job, try await report(of: job, from: started.batch.next, interrupts, observe))
            } catch  where interrupts.wasInterrupted && !(error is CancellationError) {
                throw CommandFailure(.cancelled, interrupts.remains.joined(separator: "\n"))
            }
        }
    }

    /// Follows a job that was submitted before.
    ///
    /// - Parameter interrupts: what cancels the job; `nil` where following is all that ends.
    func attach(
        _ job: JobID, interrupts: Interrupts?, observe: @escaping @Sendable (EventBatch) async -> Void
    ) async throws -> JobReport {
        try await report(of: job, from: 0, interrupts, observe)
    }

    private func report(
        of job: JobID, from first: Int, _ interrupts: Interrupts?,
        _ observe: @escaping @Sendable (EventBatch) async -> Void
    ) async throws -> JobReport {
        try await withThrowingTaskGroup(of: JobReport?.self) { group in
            group.addTask { try await follow(job, from: first, observe) }
            group.addTask {
                if let interrupts, await interrupts.first() {
                    coordinator.giveUp()
                    do {
                        try await coordinator.call { try await $0.cancel(job) }
                    } catch let error as RemoteError {
                        interrupts.couldNotCancel(error.message)
                    } catch {
                        // Lost with the node; whoever follows the job hears of that.
                    }
                }
                return nil
            }
            // The job's end ends the wait for Ctrl-C; an interrupt only cancels the job, whose end then follows.
            while let result = try await group.next() {
                if let result {
                    group.cancelAll()
                    return result
                }
            }
            throw CommandFailure(.noCluster, "the coordinator went away")
        }
    }

    private func follow(
        _ job: JobID, from first: Int, _ observe: @Sendable (EventBatch) async -> Void
    ) async throws -> JobReport {
        var next = first
        var restarts = await coordinator.restarts
        // A history begins anew with every life of the coordinator, with what was planned before.
        var isPlanned = first > 0
        while true {
            var batch: EventBatch
            do {
                let request = EventsRequest(job: job, from: next)
                let known = restarts
                (batch, restarts) = try await coordinator.call { [coordinator] node in
                    let number = await coordinator.restarts
                    let request = number == known ? request : EventsRequest(job: job, from: 0)
                    return (try await node.events(request), number)
                }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw CommandFailure(
                    .noCluster,
                    "the node that coordinates the job was lost (\(PrintableText.of("\(error)"))); where it runs or is "
                        + "started again, the job goes on: skynode jobs watch \(job)")
            }
            next = batch.next
            let end = batch.report
            if isPlanned { batch.events.removeAll(where: \.isPlan) }
            isPlanned = isPlanned || batch.events.contains(where: \.isPlan)
            await observe(batch)
            if let end { return end }
        }
    }
}

extension JobEvent {
    fileprivate var isPlan: Bool {
        if case .special(let event as ScanEvent) = kind, case .planned = event { true } else { false }
    }
}

extension EventBatch {
    /// How the job ended, where that is among the events.
    fileprivate var report: JobReport? {
        for event in events { if case .ended(let report) = event.kind { return report } }
        return nil
    }
}
