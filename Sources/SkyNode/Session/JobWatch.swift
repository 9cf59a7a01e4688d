import SkyCore
import Transport

/// Follows one job to its end, and cancels it when the command is interrupted. Where the way to the coordinator is lost, the
/// job goes on.
struct JobWatch {
    let coordinator: Coordinator

    /// Submits and follows; `observe` hears everything that happens, in order.
    ///
    /// - Throws: `CommandFailure` where the coordinator refuses the job or is lost.
    func run(
        _ submission: Submission, interrupts: Interrupts,
        observe: @escaping @Sendable (EventBatch) async -> Void
    ) async throws -> (job: JobID, report: JobReport) {
        let job = try await JobHandover.submit(submission, to: coordinator)
        return (job, try await report(of: job, interrupts, observe))
    }

    /// Follows a job that was submitted before.
    ///
    /// - Parameter interrupts: what cancels the job; `nil` where following is all that ends.
    func attach(
        _ job: JobID, interrupts: Interrupts?, observe: @escaping @Sendable (EventBatch) async -> Void
    ) async throws -> JobReport {
        try await report(of: job, interrupts, observe)
    }

    private func report(
        of job: JobID, _ interrupts: Interrupts?, _ observe: @escaping @Sendable (EventBatch) async -> Void
    ) async throws -> JobReport {
        try await withThrowingTaskGroup(of: JobReport?.self) { group in
            group.addTask { try await follow(job, observe) }
            group.addTask {
                if let interrupts, await interrupts.first() { try? await coordinator.cancel(job) }
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
        _ job: JobID, _ observe: @Sendable (EventBatch) async -> Void
    ) async throws -> JobReport {
        var next = 0
        while true {
            let batch: EventBatch
            do {
                batch = try await coordinator.events(EventsRequest(job: job, from: next))
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw CommandFailure(
                    .noCluster,
                    "the node that coordinates the job was lost (\(PrintableText.of("\(error)"))); where it runs or is "
                        + "started again, the job goes on: skynode jobs watch \(job)")
            }
            next = batch.next
            await observe(batch)
            for event in batch.events { if case .ended(let report) = event.kind { return report } }
        }
    }
}
