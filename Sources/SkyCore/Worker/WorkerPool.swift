import Distributed
import Glibc
package import Logging
import Transport

/// The worker processes of a node, at most one a slot, started when first needed and kept for the next task.
///
/// A worker that crashes, hangs or is told to stop costs the attempt that ran in it and nothing else: it is killed
/// with its process group, and the next task gets a new one.
package actor WorkerPool {
    /// How workers are started.
    package struct Launch: Sendable {
        /// The program; its first argument will be `worker`.
        package var executable: String
        /// Largest number of processes.
        package var limit: Int

        package init(executable: String, limit: Int) {
            self.executable = executable
            self.limit = limit
        }
    }

    private struct Worker {
        var name: String
        var process: ChildProcess
        var actor: WorkerActor
    }

    private let launch: Launch
    private let logger: Logger
    private var home: WorkerHome?
    private var idle: [Worker] = []
    private var count = 0
    private var lastNumber = 0
    private var isClosed = false
    /// Set while the first caller prepares the socket, so that others wait for the same one.
    private var opening: Task<WorkerHome, any Error>?

    package init(_ launch: Launch, logger: Logger) {
        self.launch = launch
        self.logger = logger
    }

    /// Runs a task in a worker process. Never throws: how it ends is its outcome.
    func perform(_ task: ScanTask, timeLimit: Duration) async -> TaskOutcome {
        let worker: Worker
        do {
            worker = try await obtain()
        } catch {
            return .fault("cannot start a worker process: \(error)")
        }
        do {
            let outcome = try await withDeadline(timeLimit) { try await worker.actor.perform(task) }
            giveBack(worker)
            return outcome
        } catch TransportError.deadlineExceeded {
            await discard(worker)
            return .fault("stopped after its time limit of \(timeLimit)")
        } catch is CancellationError {
            await discard(worker)
            return .fault("stopped")
        } catch TransportError.connectionLost {
            let end = await discard(worker)
            return .fault("the worker process \(end)")
        } catch {
            await discard(worker)
            return .fault("the worker process failed: \(error)")
        }
    }

    /// Ends all workers. Tasks under way fail.
    package func close() async {
        isClosed = true
        for worker in idle { _ = await discard(worker) }
        idle = []
        await home?.close()
        home = nil
    }

    private func obtain() async throws -> Worker {
        while let worker = idle.popLast() {
            if worker.process.isRunning { return worker }
            await discard(worker)
        }
        if isClosed { throw TransportError.notRunning }
        let home = try await openHome()
        lastNumber += 1
        count += 1
        do {
            let (process, node) = try await home.start(launch.executable, name: "worker-\(lastNumber)")
            let actor = try WorkerActor.resolve(
                id: ActorAddress(node: node, name: WorkerActor.wellKnownName), using: home.system)
            return Worker(name: "worker-\(lastNumber)", process: process, actor: actor)
        } catch {
            count -= 1
            throw error
        }
    }

    private func openHome() async throws -> WorkerHome {
        if let home { return home }
        let task = opening ?? Task { [logger] in try await WorkerHome(logger: logger) }
        opening = task
        defer { opening = nil }
        let opened = try await task.value
        home = opened
        return opened
    }

    private func giveBack(_ worker: Worker) {
        if isClosed || idle.count >= launch.limit || !worker.process.isRunning {
            worker.process.kill()
            count -= 1
        } else {
            idle.append(worker)
        }
    }

    /// Kills a worker and tells how it ended, for the attempt's error.
    @discardableResult
    private func discard(_ worker: Worker) async -> String {
        // One that is dying by itself may say why in a moment; one that hangs is killed after it.
        let end = await worker.process.end(within: .milliseconds(200))
        count -= 1
        if let words = home?.lastWords(of: worker.name) { return "\(end) (\(words))" }
        return end
    }
}
