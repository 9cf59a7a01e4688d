import Glibc
import Logging
import NIOCore
package import Sky
import Transport

/// Does the work of one attempt, in this process where it is harmless and in a worker process where it is not.
package struct TaskRunner: Sendable {
    private let workers: WorkerPool
    /// Whether a task may kill this daemon to rehearse a crash.
    private let allowsCrash: Bool
    /// How many times as long simulated tasks take.
    private let slowness: Int
    private let simulated: ByteBuffer

    /// Where files are that are found here; `nil` where they are not read for others.
    private let holder: PixelHolder?
    /// Where pixels come from that are not here.
    private let pixels: PixelStore?

    package init(
        workers: WorkerPool, holder: PixelHolder? = nil, pixels: PixelStore? = nil, allowsCrash: Bool,
        slowness: Int = 1
    ) {
        (self.holder, self.pixels) = (holder, pixels)
        self.slowness = slowness
        self.workers = workers
        self.allowsCrash = allowsCrash
        simulated = (try? WireCoder.encode(TaskResult.simulated)) ?? ByteBuffer()
    }

    /// Gets what an attempt will need while it waits for a slot.
    func lookAhead(_ request: RunRequest) {
        guard let pixels, case .sky(let work) = request.task.work, let (image, hdu, rect) = work.pixels else { return }
        Task { await pixels.lookAhead(image, hdu: hdu, rect: rect) }
    }

    /// What becomes of an attempt that takes no time; `nil` for any other.
    func atOnce(_ request: RunRequest) -> AttemptOutcome? {
        guard case .simulate(let simulation) = request.task.work, simulation.duration == .zero,
            !request.task.rehearsal.isAny
        else { return nil }
        return .done(simulated)
    }

    /// Never throws: how an attempt ends is its outcome.
    func run(_ request: RunRequest) async -> AttemptOutcome {
        let rehearsal = request.task.rehearsal
        let crashes = request.attempt.number == 1 && rehearsal.crashesFirstAttempt
        if allowsCrash, rehearsal.poison == .node || crashes { kill(getpid(), SIGKILL) }
        let outcome = await perform(request)
        guard outcome.isDone, rehearsal.failsFirstAttempt else { return outcome }
        return .fault("rehearsed failure of the first try")
    }

    private func perform(_ request: RunRequest) async -> AttemptOutcome {
        switch request.task.work {
        case .simulate(let simulation) where request.task.rehearsal.poison == nil:
            let duration = simulation.duration * slowness
            do {
                try await Task.sleep(for: min(duration, request.timeLimit))
            } catch {
                return .refused("stopped")
            }
            return duration > request.timeLimit
                ? .fault("took longer than its time limit of \(request.timeLimit)") : .done(simulated)
        default:
            return encoded(await workers.perform(request.task, timeLimit: request.timeLimit))
        }
    }

    private func encoded(_ outcome: TaskOutcome) -> AttemptOutcome {
        switch outcome {
        case .done(var result):
            if case .sky(.inspected(var info)) = result, info.content != nil {
                info.holder = holder
                result = .sky(.inspected(info))
            }
            do {
                return .done(try WireCoder.encode(result))
            } catch {
                return .fault("its result cannot be encoded: \(error)")
            }
        case .fault(let reason): return .fault(reason)
        case .crash(let reason): return .crash(reason)
        case .badInput(let reason): return .badInput(reason)
        case .unavailable(let reason): return .unavailable(reason)
        }
    }
}
