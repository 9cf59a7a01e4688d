import Glibc
import Logging

/// Does the work of one attempt, in this process where it is harmless and in a worker process where it is not.
package struct TaskRunner: Sendable {
    private let workers: WorkerPool
    /// Whether a task may kill this daemon to rehearse a crash.
    private let allowsCrash: Bool

    package init(workers: WorkerPool, allowsCrash: Bool) {
        self.workers = workers
        self.allowsCrash = allowsCrash
    }

    /// Never throws: how an attempt ends is its outcome.
    func run(_ request: RunRequest) async -> TaskOutcome {
        let rehearses = request.attempt.number == 1
        if rehearses, request.task.rehearsal.crashesFirstAttempt, allowsCrash { kill(getpid(), SIGKILL) }
        let outcome = await perform(request)
        if case .done = outcome, rehearses, request.task.rehearsal.failsFirstAttempt {
            return .fault("rehearsed failure of the first try")
        }
        return outcome
    }

    private func perform(_ request: RunRequest) async -> TaskOutcome {
        switch request.task.work {
        case .simulate(let simulation):
            do {
                try await Task.sleep(for: min(simulation.duration, request.timeLimit))
            } catch {
                return .fault("stopped")
            }
            return simulation.duration > request.timeLimit
                ? .fault("took longer than its time limit of \(request.timeLimit)") : .done(.simulated)
        default:
            return await workers.perform(request.task, timeLimit: request.timeLimit)
        }
    }
}
