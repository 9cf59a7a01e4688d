import Base
import Glibc
import Logging
import NIOCore
import Transport

/// Does the work of one attempt, in this process where it is harmless and in a worker process where it is not.
package struct TaskRunner: Sendable {
    private let workers: WorkerPool
    /// Whether a task may kill this daemon to rehearse a crash.
    private let allowsCrash: Bool
    /// How many times as long simulated tasks take.
    private let slowness: Int
    /// Where files are that are found here; `nil` where they are not read for others.
    private let holder: NodeLabel?
    /// Where pixels come from that are not here.
    private let pixels: PixelStore?

    package init(
        workers: WorkerPool, holder: NodeLabel? = nil, pixels: PixelStore? = nil, allowsCrash: Bool,
        slowness: Int = 1
    ) {
        (self.holder, self.pixels) = (holder, pixels)
        self.slowness = slowness
        self.workers = workers
        self.allowsCrash = allowsCrash
    }

    /// Gets what an attempt will need while it waits for a slot.
    func lookAhead(_ request: RunRequest) {
        let work = request.task.work.value
        guard let pixels, case .worker = work.place else { return }
        Task { await work.lookAhead(pixels) }
    }

    /// How an attempt ends that takes no time; `nil` for any other.
    func atOnce(_ request: RunRequest) -> AttemptEnd<ByteBuffer>? {
        guard !request.task.rehearsal.isAny, case .daemon(let work) = request.task.work.value.place else { return nil }
        return work.resultAtOnce.map { .success($0) }
    }

    /// Never throws: how an attempt ends is what is returned.
    func run(_ request: RunRequest) async -> AttemptEnd<ByteBuffer> {
        let rehearsal = request.task.rehearsal
        let crashes = request.attempt.number == 1 && rehearsal.crashesFirstAttempt
        if allowsCrash, rehearsal.poison == .node || crashes { kill(getpid(), SIGKILL) }
        let end = await perform(request).flatMap { encode($0) }
        guard case .success = end, rehearsal.failsFirstAttempt else { return end }
        return .failure(.fault("rehearsed failure of the first try"))
    }

    private func perform(_ request: RunRequest) async -> AttemptEnd<TaskResult> {
        switch request.task.work.value.place {
        case .daemon(let work):
            // What kills a process is rehearsed in one that may die.
            guard request.task.rehearsal.poison == nil else { break }
            do {
                return .success(try await work.perform(timeLimit: request.timeLimit, slowness: slowness))
            } catch is CancellationError {
                return .failure(.refused("stopped"))
            } catch {
                return .failure(AttemptFailure(of: error))
            }
        case .worker: break
        }
        return await workers.perform(request.task, timeLimit: request.timeLimit)
    }

    private func encode(_ result: TaskResult) -> AttemptEnd<ByteBuffer> {
        var result = result
        result.value.sign(by: holder)
        do {
            return .success(try WireCoder.encode(result))
        } catch {
            let reason: String = "its result cannot be encoded: \(error)"
            return .failure(.fault(FailureReason(reason)))
        }
    }
}
