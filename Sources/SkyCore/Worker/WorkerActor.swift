import Base
package import Distributed
import Glibc
package import NIOPosix
package import Transport

/// The one actor of a worker process. It does foreign work for its daemon, one task at a time, on a thread of its own.
package distributed actor WorkerActor: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// What peers may call. A test calls every method, so a name here that is not the compiler's is noticed.
    package static let methods = MethodTable([
        Method("perform") { (worker: isolated WorkerActor, argument: ScanTask) in await worker.perform(argument) }
    ])

    package static let wellKnownName = "worker"

    /// cfitsio, wcslib and SEP may block for any length of time, so they never run on the cooperative pool.
    private let thread: NIOThreadPool
    private let box: ToolBox
    /// Opens when the process is confined. The daemon may call before that, and no file is opened before that.
    private let isConfined: Latch

    package init(
        thread: NIOThreadPool, isConfined: Latch, tools: sending WorkerTools, actorSystem: ClusterSystem
    ) {
        self.actorSystem = actorSystem
        self.thread = thread
        self.isConfined = isConfined
        box = ToolBox(tools)
    }

    /// Does one task's work.
    package distributed func perform(_ task: ScanTask) async -> TaskOutcome {
        await isConfined.wait()
        do {
            let done = try await thread.runIfActive { [box] () -> TaskOutcome? in
                task.rehearsal.poison?.takeEffect()
                guard case .worker(let work) = task.work.value.place else { return nil }
                box.tools.stages = nil
                let result = try work.perform(with: box.tools)
                return TaskOutcome(.success(try WorkerResult(result)), stages: box.tools.stages)
            }
            if let done { return done }
            return TaskOutcome(.success(.read(try await inDaemon(task))))
        } catch {
            return TaskOutcome(.failure(AttemptFailure(of: error)))
        }
    }

    /// Does work here that a daemon would do itself. It is here because its rehearsal kills the process; if the process
    /// survives, the work takes no time.
    private func inDaemon(_ task: ScanTask) async throws -> TaskResult {
        guard case .daemon(let work) = task.work.value.place else { throw SkyError(.failed, "a task without work") }
        return try await work.perform(timeLimit: JobRequest.longestTimeLimit, slowness: 0)
    }
}

extension Poison {
    fileprivate func takeEffect() {
        switch self {
        case .crash: abort()
        case .hang: while true { pause() }
        case .memory:
            var hoard: [[UInt8]] = []
            while true { hoard.append([UInt8](repeating: 1, count: 16 << 20)) }
        case .node: break
        }
    }
}

/// Carries the tools, which are not `Sendable`, to the one thread that uses them.
///
/// Safe because only jobs of a pool of exactly one thread touch `tools`, one after the other.
private final class ToolBox: @unchecked Sendable {
    let tools: WorkerTools

    init(_ tools: sending WorkerTools) { self.tools = tools }
}
