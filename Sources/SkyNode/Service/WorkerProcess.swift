import Base
import Glibc
import Logging
import NIOCore
import NIOPosix
import Sky
import SkyCore
import Transport

/// This process, where it is a worker of a daemon.
struct WorkerProcess {
    let arguments: WorkerArguments

    /// Limits this process as a worker is limited, also one that only tries its confinement.
    ///
    /// - Parameter memory: how many bytes of address space it may have.
    static func limit(memory: UInt64) {
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
    }

    /// Works until the daemon lets go.
    ///
    /// - Throws: `CommandFailure` where the daemon does not answer; the errors of `Sandbox.seal`.
    func run() async throws {
        WorkerProcess.limit(memory: arguments.memory)
        var settings = ClusterSettings(name: arguments.name)
        settings.cluster = arguments.cluster
        // The daemon gives work to workers only that measure as it says of its node.
        settings.arithmetic = JobKinds.arithmetic.text
        settings.logger = Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        settings.eventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let system = ClusterSystem(settings)
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        // A thread that lives as long as this process asks for this, because Linux forgets it with the thread.
        try await thread.runIfActive { [parent = arguments.parent] in ProcessLimits.endWithParent(parent) }
        let isConfined = Latch()
        let worker = ClusterSystem.withActorName(WorkerActor.wellKnownName) {
            WorkerActor(
                thread: thread, isConfined: isConfined,
                tools: WorkerTools(
                    system, on: settings.eventLoopGroup.next(), readFolders: arguments.readFolders,
                    inputs: arguments.inputs),
                actorSystem: system)
        }
        try await system.start()
        let events = system.membershipEvents()
        do {
            try await system.join(.unixSocket(path: arguments.socket))
        } catch {
            let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw CommandFailure(.noCluster, "the daemon does not answer at \(arguments.socket): \(reason)")
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
}
