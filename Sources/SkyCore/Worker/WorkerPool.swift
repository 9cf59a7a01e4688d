import Base
import Distributed
import Glibc
package import Logging
import NIOConcurrencyHelpers
import Transport

/// The worker processes of a node. They are started when first needed and kept for the next task.
///
/// A worker that crashes, hangs or is told to stop costs only the attempt that ran in it. The worker is killed with its
/// process group, and the next task gets a new one.
package actor WorkerPool {
    private struct Worker {
        var name: String
        var process: ChildProcess
        var actor: WorkerActor
        var home: WorkerHome
        /// The number of the rules of what it may read; `nil` on a machine without Landlock.
        var rules: Int?
        var tasksDone = 0
    }

    /// After how many tasks a worker is replaced: SEP 1.2 loses a few hundred bytes for every blend that it splits.
    private static let tasksPerWorker = 2000

    /// If there are so many processes that were killed and do not end, no more are started. Each of them holds some of the
    /// machine's memory, and what they wait for would not answer a new process either.
    private static let stuckLimit = 64

    private let executable: String
    private let memory: UInt64
    private let logger: Logger
    /// The node's tools, of which workers reach some actors. They may come after the first workers are begun.
    private let tools = NIOLockedValueBox(NodeTools())
    private let hasTools = Latch()
    /// Where workers get control groups; `nil` if they stay in this process's group.
    private let groups: ControlGroups?
    private let readPolicy: ReadPolicy
    private let readRules: ReadRules
    private var restarts = RestartPlan()
    private var home: WorkerHome?
    /// Homes whose folder was removed, for as long as workers are connected to them.
    private var formerHomes: [WorkerHome] = []
    private var idle: [Worker] = []
    /// Workers that are started before a task needs them, by the number of the start.
    private var starting: [Int: Task<Worker, any Error>] = [:]
    private var lastStart = 0
    private var stuck: [ChildProcess] = []
    private var lastNumber = 0
    /// Whether the log already says that a worker has no control group.
    private var hasMissedGroup = false
    private var isClosed = false

    /// - Parameters:
    ///   - executable: the program whose `worker` command is a worker process.
    ///   - memory: how many bytes of address space each worker may have.
    ///   - groups: where workers get control groups; `nil` if they stay in this process's group.
    ///   - reads: what workers may read.
    package init(
        executable: String, memory: UInt64 = MachineMemory.shareOfWorker(among: 1), groups: ControlGroups? = nil,
        reads: ReadPolicy = ReadPolicy(), logger: Logger
    ) {
        self.groups = groups
        readPolicy = reads
        readRules = ReadRules(reads, logger: logger)
        self.executable = executable
        self.memory = memory
        self.logger = logger
    }

    /// Gives the node's tools. No worker is let in before.
    nonisolated func setTools(_ tools: NodeTools) {
        self.tools.withLockedValue { $0 = tools }
        hasTools.open()
    }

    /// Runs a task in a worker process. Never throws: how it ends is what is returned, with the stages of its work if they are
    /// known.
    func perform(
        _ task: ScanTask, timeLimit: Duration
    ) async -> (end: AttemptEnd<WorkerResult>, stages: StageTimes?) {
        let (end, stages, rules) = await attempt(task, timeLimit)
        // The file may be in a folder that was made or mounted since the worker was started. A new worker can read it.
        guard case .failure(.unavailable) = end, await readRules.isOutdated(rules) else { return (end, stages) }
        let (newEnd, newStages, _) = await attempt(task, timeLimit)
        return (newEnd, newStages)
    }

    private func attempt(
        _ task: ScanTask, _ timeLimit: Duration
    ) async -> (end: AttemptEnd<WorkerResult>, stages: StageTimes?, rules: Int?) {
        func fault(_ reason: String) -> (AttemptEnd<WorkerResult>, StageTimes?, Int?) {
            (.failure(.fault(FailureReason(reason))), nil, nil)
        }
        let worker: Worker
        do {
            worker = try await obtain()
        } catch is CancellationError {
            return fault("stopped")
        } catch {
            return fault("cannot start a worker process: \(error)")
        }
        do {
            let outcome = try await WorkerPool.withGrace {
                try await withDeadline(timeLimit) { try await worker.actor.perform(task) }
            }
            await giveBack(worker)
            return (outcome.end, outcome.stages, worker.rules)
        } catch TransportError.deadlineExceeded {
            await discard(worker)
            return fault("stopped after its time limit of \(timeLimit)")
        } catch is CancellationError {
            await discard(worker)
            return fault("stopped")
        } catch TransportError.connectionLost {
            // The process may say in a moment why it ended. If it only lost its socket, it is killed after that.
            let end = await discard(worker, patience: .milliseconds(500))
            let isForMemory = end.contains("allocate") || end.contains(ChildProcess.outOfMemory)
            let limit = isForMemory ? "; a worker may have \(memory >> 20) MiB" : ""
            return (.failure(.crash("the worker process \(end)\(limit)")), nil, nil)
        } catch {
            await discard(worker)
            return fault("the worker process failed: \(error)")
        }
    }

    /// How long a task that is stopped may still take to end. Most such tasks were overtaken by a speculative attempt, and
    /// a worker that is not killed keeps its image open for the next task.
    private static let grace = Duration.milliseconds(300)

    /// Runs `body`. If the caller is cancelled, cancels `body` only after the grace period.
    private static func withGrace<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task { try await body() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            Task {
                try? await Task.sleep(for: grace)
                task.cancel()
            }
        }
    }

    /// Ends all workers. Tasks under way fail.
    package func close() async {
        isClosed = true
        hasTools.open()
        let starting = starting.values
        self.starting = [:]
        for start in starting {
            start.cancel()
            if let worker = try? await start.value { _ = await discard(worker) }
        }
        for worker in idle { _ = await discard(worker) }
        idle = []
        for home in [home].compactMap(\.self) + formerHomes { await home.close() }
        (home, formerHomes) = (nil, [])
    }

    /// Ends the idle workers. The next task starts a new one.
    func endIdleWorkers() async {
        while let worker = idle.popLast() { await discard(worker) }
    }

    /// Starts workers, so that the next tasks find as many. Returns at once.
    package func start(_ count: Int) {
        guard !isClosed, idle.count + starting.count < count else { return }
        for _ in idle.count + starting.count..<count {
            lastStart += 1
            // The pool owns the task, and ends it when it is closed.
            starting[lastStart] = Task { [number = lastStart] in
                do {
                    let worker = try await newWorker()
                    if starting.removeValue(forKey: number) != nil { idle.append(worker) }
                    return worker
                } catch {
                    starting[number] = nil
                    throw error
                }
            }
        }
    }

    private func obtain() async throws -> Worker {
        while let worker = idle.popLast() {
            if isUsable(worker) { return worker }
            await discard(worker)
        }
        if let (number, start) = starting.min(by: { $0.key < $1.key }) {
            starting[number] = nil
            let worker = await withTaskCancellationHandler {
                try? await start.value
            } onCancel: {
                start.cancel()
            }
            // If the start failed, the next one says why.
            if let worker {
                if isUsable(worker) { return worker }
                await discard(worker)
            }
        }
        return try await newWorker()
    }

    /// A worker of a former home is as good as any, but would keep that home for as long as it has work.
    private func isUsable(_ worker: Worker) -> Bool {
        worker.process.isRunning && worker.rules == readRules.number && worker.home === home
    }

    /// - Parameter isRetry: whether the folder of the workers was removed during the first try.
    private func newWorker(isRetry: Bool = false) async throws -> Worker {
        if isClosed { throw TransportError.notRunning }
        stuck.removeAll { !$0.isRunning }
        guard stuck.count < WorkerPool.stuckLimit else {
            throw SkyError(
                .failed, "\(stuck.count) worker processes wait for a disk or a shared folder that does not answer")
        }
        let home = try await openHome()
        if let pause = restarts.pause(at: .now) { try await Task.sleep(for: pause) }
        lastNumber += 1
        let name = "worker-\(lastNumber)"
        let (process, actor, rules): (ChildProcess, WorkerActor, Int?)
        do {
            (process, actor, rules) = try await home.start(
                executable, name: name, memory: memory, groups: groups, rules: readRules, reads: readPolicy)
        } catch {
            if !isRetry, !Task.isCancelled, !home.isIntact { return try await newWorker(isRetry: true) }
            if !Task.isCancelled { restarts.failed(at: .now) }
            if await !home.hasSocket, self.home === home {
                self.home = nil
                await home.close()
            }
            throw error
        }
        restarts.succeeded()
        if let groups, !process.hasOwnGroup, !hasMissedGroup {
            hasMissedGroup = true
            logger.warning("a worker has no control group of its own", metadata: ["below": "\(groups.folder)"])
        }
        return Worker(name: name, process: process, actor: actor, home: home, rules: rules)
    }

    private func openHome() async throws -> WorkerHome {
        if let home {
            if home.isIntact { return home }
            logger.notice("the workers' folder was removed, and is made again")
            self.home = nil
            formerHomes.removeAll { $0.isClosed }
            formerHomes.append(home)
            await home.retire()
            return try await openHome()
        }
        let opened = try WorkerHome(
            tools: { [tools, hasTools] in
                await hasTools.wait()
                return tools.withLockedValue { $0 }
            }, logger: logger)
        home = opened
        return opened
    }

    private func giveBack(_ worker: Worker) async {
        var worker = worker
        worker.tasksDone += 1
        if isClosed || worker.tasksDone >= WorkerPool.tasksPerWorker || !worker.process.isRunning {
            await discard(worker)
        } else {
            idle.append(worker)
        }
    }

    /// Ends a worker, by force when the patience is over. Returns how it ended, for the attempt's error.
    @discardableResult
    private func discard(_ worker: Worker, patience: Duration = .zero) async -> String {
        let end = await worker.process.end(within: patience)
        if end == ChildProcess.unkillable {
            stuck.append(worker.process)
            logger.warning(
                "a worker process does not end; what it waits for does not answer",
                metadata: [
                    "worker": "\(worker.name)", "process": "\(worker.process.identifier)", "in all": "\(stuck.count)",
                ])
        }
        let words = worker.home.lastWords(of: worker.name)
        await worker.home.leave()
        return words.map { "\(end) (\($0))" } ?? end
    }
}
