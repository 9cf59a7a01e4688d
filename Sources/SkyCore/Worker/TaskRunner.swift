import Base
import Glibc
import Logging
import NIOCore
import Transport

/// Does the work of one attempt: in this process if the work is harmless, and in a worker process if it is not.
package struct TaskRunner: Sendable {
    private let workers: WorkerPool
    /// Whether a task may kill this daemon, to rehearse a crash.
    private let allowsCrash: Bool
    /// By which factor simulated tasks take longer.
    private let slowness: Int
    /// The label that says where the files are that are found here; `nil` if this node does not read them for others.
    private let holder: NodeLabel?
    private let tools: NodeTools

    package init(
        workers: WorkerPool, holder: NodeLabel? = nil, tools: NodeTools = NodeTools(), allowsCrash: Bool,
        slowness: Int = 1
    ) {
        (self.holder, self.tools) = (holder, tools)
        self.slowness = slowness
        self.workers = workers
        self.allowsCrash = allowsCrash
    }

    /// Fetches what an attempt will need, while the attempt waits for a slot.
    func lookAhead(_ request: RunRequest) {
        let work = request.task.work.value
        guard case .worker = work.place else { return }
        // Nobody waits for this task. It ends with its requests, each of which has a time limit.
        Task { [tools] in await work.lookAhead(tools) }
    }

    /// The outcome of an attempt that takes no time; `nil` for any other attempt.
    func atOnce(_ request: RunRequest) -> AttemptEnd<ByteBuffer>? {
        guard !request.task.rehearsal.isAny, case .daemon(let work) = request.task.work.value.place else { return nil }
        return work.resultAtOnce.map { .success($0) }
    }

    /// Runs an attempt. Never throws: the outcome says how the attempt ends. The stages of its work come with it if they are known.
    func run(_ request: RunRequest) async -> (end: AttemptEnd<ByteBuffer>, stages: StageTimes?) {
        let rehearsal = request.task.rehearsal
        let crashes = request.attempt.number == 1 && rehearsal.crashesFirstAttempt
        if allowsCrash, rehearsal.poison == .node || crashes { kill(getpid(), SIGKILL) }
        let (performed, stages) = await perform(request)
        let end = performed.flatMap { encode($0) }
        guard case .success = end, rehearsal.failsFirstAttempt else { return (end, stages) }
        return (.failure(.fault("rehearsed failure of the first try")), nil)
    }

    private func perform(_ request: RunRequest) async -> (end: AttemptEnd<WorkerResult>, stages: StageTimes?) {
        switch request.task.work.value.place {
        case .daemon(let work):
            // A rehearsal that kills its process runs in a process that may die.
            guard request.task.rehearsal.poison == nil else { break }
            do {
                let result = try await work.perform(timeLimit: request.timeLimit, slowness: slowness)
                return (.success(.read(result)), nil)
            } catch is CancellationError {
                return (.failure(.refused("stopped")), nil)
            } catch {
                return (.failure(AttemptFailure(of: error)), nil)
            }
        case .worker: break
        }
        return await workers.perform(request.task, timeLimit: request.timeLimit)
    }

    private func encode(_ result: WorkerResult) -> AttemptEnd<ByteBuffer> {
        var read: TaskResult
        switch result {
        case .encoded(let bytes): return .success(bytes)
        case .read(let result): read = result
        }
        read.value.sign(by: holder)
        do {
            return .success(try WireCoder.encode(read))
        } catch {
            let reason: String = "its result cannot be encoded: \(error)"
            return .failure(.fault(FailureReason(reason)))
        }
    }
}
