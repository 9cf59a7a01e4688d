import ArgumentParser
import Base
import Glibc
import Logging
import NIOPosix
import Sky
import SkyCore
import Transport

/// `skynode worker`: one worker process. A daemon starts it, and never a person.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "A worker process of a daemon, which starts it.", shouldDisplay: false)

    @Option var socket: String
    @Option var cluster: String
    @Option var name: String
    @Option var memory: UInt64
    @Option var parent: pid_t
    /// Whether the daemon has handed over the rules of what may be read.
    @Flag var ruleset = false
    /// Where images may be read; empty for everywhere.
    @Option(name: .customLong("read-folder")) var readFolders: [String] = []

    /// Instead of any work, tries what a worker must not do, and prints how each trial ended: NAME=PATH is a file to read.
    @Option(name: .customLong("try-reading"), parsing: .upToNextOption) var trials: [String] = []
    /// For comparison, the same without confinement.
    @Flag var unconfined = false

    /// Confines this process. There must be no second thread yet.
    ///
    /// - Parameter arguments: those of this command. They come from the daemon, and are not parsed twice, because a scan waits for
    ///   the start of its first worker.
    static func enterSandbox(_ arguments: ArraySlice<String>) throws(SkyError) {
        let isComparison = arguments.contains("--try-reading") && arguments.contains("--unconfined")
        if !isComparison { try Sandbox.enter(hasRuleset: arguments.contains("--ruleset")) }
    }

    func run() async throws {
        // Cluster managers send their SIGTERM to all processes of a job. The daemon lets running tasks end then, and ends
        // this one by its socket or by SIGKILL.
        for ending in [SIGTERM, SIGINT, SIGHUP] { signal(ending, SIG_IGN) }
        // A crash is one failed attempt; a core dump of each would fill the disk.
        ProcessLimits.set(RLIMIT_CORE, to: 0)
        ProcessLimits.setThreadStacks(to: ProcessLimits.workerStack)
        // Work that takes more is refused it, and fails; the machine's owner goes on working.
        ProcessLimits.setAddressSpace(to: memory)
        SpareMemory.keepLargeBlocks()
        ProcessorLimit.allow()
        if !trials.isEmpty { return try await runTrials() }
        var settings = ClusterSettings(name: name)
        settings.cluster = cluster
        // The daemon gives work to workers only that measure as it says of its node.
        settings.arithmetic = JobKinds.arithmetic.text
        settings.logger = Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        settings.eventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let system = ClusterSystem(settings)
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        // A thread that lives as long as this process asks for this, because Linux forgets it with the thread.
        try await thread.runIfActive { ProcessLimits.endWithParent(parent) }
        let isConfined = Latch()
        let worker = ClusterSystem.withActorName(WorkerActor.wellKnownName) {
            WorkerActor(
                thread: thread, isConfined: isConfined,
                tools: WorkerTools(system, on: settings.eventLoopGroup.next(), readFolders: readFolders),
                actorSystem: system)
        }
        try await system.start()
        let events = system.membershipEvents()
        do {
            try await system.join(.unixSocket(path: socket))
        } catch {
            throw CommandFailure(.noCluster, "the daemon does not answer at \(socket): \(error)")
        }
        try Sandbox.seal()
        isConfined.open()
        for await event in events {
            switch event {
            case .lost, .left:
                // The daemon is gone, or has let go. The work that the thread is busy with is of no use to anybody, and foreign
                // code cannot be asked to stop.
                _exit(0)
            case .joined, .suspect, .back, .draining: continue
            }
        }
        withExtendedLifetime(worker) {}
    }

    /// As with real work, the trials run on a thread that was there before the link would have been up.
    private func runTrials() async throws {
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        try await thread.runIfActive {}
        if !unconfined { try Sandbox.seal() }
        let files = trials.map { trial -> (name: String, path: String) in
            let parts = trial.split(separator: "=", maxSplits: 1).map(String.init)
            return (parts[0], parts.last ?? "")
        }
        try await thread.runIfActive { [name, parent] in
            // Standard error is the one stream that a worker has.
            SandboxTrial.run(files: files, folder: name, parent: parent) { Console.error("\($0)") }
        }
    }
}
