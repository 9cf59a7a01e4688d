import ArgumentParser
import Base
import CLinux
import Dispatch
import Glibc
import NIOCore
import NIOPosix
import Sky
import SkyCore
import SkyJobs
import Transport

/// Entry point. Parses the command line, runs the command, and turns every error into one line and an exit code.
@main
enum SkyNodeMain {
    static func main() {
        // Before anything changes the environment.
        guard hasOwnProc else { exit(runWithoutProc()) }
        // Threads of libdispatch ask for a priority that only root may have, and libdispatch tells the system's log whenever they
        // are refused it: several times a minute.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // A reader that goes away (`skynode nodes | head -1`) is no reason to die; the write fails instead.
        signal(SIGPIPE, SIG_IGN)
        // Before any thread begins: libdispatch would take the number of a missing stream for something of its own.
        Console.openMissingStreams()
        InstalledKinds.install()
        OrphanReaper.start()
        do {
            try confineWorker()
            try checkLimits()
        } catch {
            exit(Console.closeOutput(report(error)))
        }
        // A worker neither writes results nor heeds these signals.
        if CommandLine.arguments.dropFirst().first != WorkerArguments.command { SignalEnd.start() }
        // The program owns this task, which ends it. Its priority, which nearly all others inherit, is that of the tasks that NIO's
        // threads begin: libdispatch has threads for each priority, and calls would go from those of one to those of the other.
        Task(priority: .medium) { await run() }
        dispatchMain()
    }

    /// Whether /proc shows this process under its own number. One of another namespace of processes, as a container may have, shows
    /// it under another or not at all, and threads do not find themselves.
    private static var hasOwnProc: Bool { access("/proc/self/task/\(getpid())/comm", F_OK) == 0 }

    /// Says which version this is, and no more: without /proc libdispatch ends the process as soon as one of its threads is busy for
    /// a second.
    private static func runWithoutProc() -> Int32 {
        var arguments: [String] = []
        var next = linux_arguments()
        while let argument = next?.pointee {
            arguments.append(String(cString: argument))
            next = next?.advanced(by: 1)
        }
        do {
            if let version = try CommandPath(Array(arguments.dropFirst())).command() as? VersionCommand {
                try version.run()
                return Console.closeOutput(ExitStatus.done.rawValue)
            }
        } catch {
            return Console.closeOutput(report(error))
        }
        let fault =
            access("/proc/stat", F_OK) == 0 ? "/proc is not that of this container" : "nothing is mounted at /proc"
        Console.failure("\(fault), and there is no work without it: mount -t proc proc /proc")
        return ExitStatus.usage.rawValue
    }

    /// Confines a worker process. Linux confines the thread that asks for it and those that it starts, so this cannot wait for a
    /// thread of the Swift runtime, on which commands run.
    private static func confineWorker() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.first == WorkerArguments.command else { return }
        try WorkerCommand.enterSandbox(arguments.dropFirst())
    }

    /// Checks the limits of `ulimit` and the like. Help and the version need little but threads, and a worker has the limits of its
    /// daemon, beside which it may get no more threads.
    private static func checkLimits() throws {
        let command = CommandLine.arguments.dropFirst().first
        let isWorker = command == WorkerArguments.command
        let nodes = [ServeCommand._commandName, ScanCommand._commandName, SimulateCommand._commandName]
        let hasNode = command.map(nodes.contains) ?? false
        try ProcessLimits.checkThreads(
            processors: Defaults.slots, isWorker: isWorker, startsMany: isWorker || hasNode)
        guard let command, !command.hasPrefix("-"), !isWorker, command != VersionCommand._commandName else { return }
        try ProcessLimits.check(processors: Defaults.slots, hasNode: hasNode)
    }

    private static func run() async {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            setThreadCounts(isDaemon: arguments.first == ServeCommand._commandName)
            if let worker = WorkerArguments(arguments) {
                try await WorkerProcess(arguments: worker).run()
                exit(ExitStatus.done.rawValue)
            }
            let path = CommandPath(arguments)
            if let complaint = path.complaint { throw CommandFailure(.usage, complaint) }
            if ShortHelp.isAsked(arguments) {
                let help = ShortHelp(arguments, root: try CommandInfo.root(), width: Console.outputColumns ?? 80)
                printHelp(help.lines.joined(separator: "\n"))
                exit(Console.closeOutput(ExitStatus.done.rawValue))
            }
            try await run(path, mayNeedNode: arguments.first == ScanCommand._commandName)
        } catch {
            exit(Console.closeOutput(report(error)))
        }
        exit(Console.closeOutput(ExitStatus.done.rawValue))
    }

    /// Parses the command, and runs it.
    ///
    /// - Parameter mayNeedNode: whether the command will perhaps have a node of its own.
    private static func run(_ path: CommandPath, mayNeedNode: Bool) async throws {
        async let lookedUp: Void = mayNeedNode ? EmbeddedNode.lookUpTypes() : ()
        var command = try path.command()
        // This is the command that runs for months.
        if command is ServeCommand { SpareMemory.keepHeapsSmall() }
        if var asynchronous = command as? any AsyncParsableCommand {
            try await asynchronous.run()
        } else {
            try command.run()
        }
        await lookedUp
    }

    /// Gives NIO as many threads as there are processors to use. It would otherwise count processors by rules of its own.
    private static func setThreadCounts(isDaemon: Bool) {
        let processors = Defaults.slots
        NIOSingletons.blockingPoolThreadCountSuggestion = processors
        // Each thread wakes up for its own links. A cluster's calls do not fill one, and a daemon has little else to do.
        NIOSingletons.groupLoopCountSuggestion = isDaemon ? max(1, min(4, processors / 2)) : processors
        // NIO starts them when they are first needed, and traps where there are no threads left then: its workers may have them all.
        if isDaemon { _ = (MultiThreadedEventLoopGroup.singleton, NIOThreadPool.singleton) }
    }

    /// Says what went wrong, in one line, and gives the exit code.
    private static func report(_ error: any Error) -> Int32 {
        switch error {
        case let failure as CommandFailure:
            if let message = failure.message { Console.failure("\(message)") }
            return failure.status.rawValue
        case let error as SkyError:
            Console.failure("\(error.message)")
            return ExitStatus.usage.rawValue
        case let error as SecurityError:
            Console.failure("\(error)")
            return ExitStatus.usage.rawValue
        case let error as TransportError:
            Console.failure("the node was lost: \(error)")
            return ExitStatus.noCluster.rawValue
        case let error as RemoteError:
            Console.failure("\(error.message)")
            return ExitStatus.partlyFailed.rawValue
        default:
            let code = SkyNodeCommand.exitCode(for: error)
            if code.isSuccess {
                printHelp(SkyNodeCommand.fullMessage(for: error))
                return ExitStatus.done.rawValue
            }
            Console.failure("\(usageMessage(error))")
            return ExitStatus.usage.rawValue
        }
    }

    /// Prints help, the version or a script for a shell.
    private static func printHelp(_ text: String) {
        Console.output(LongHelp(text).text(Console.outputStyle))
    }

    /// What is wrong with the command line, in one line with where to read on.
    private static func usageMessage(_ error: any Error) -> String {
        let words = UsageWords(error, of: SkyNodeCommand.self)
        if let first = CommandLine.arguments.dropFirst().first, first.hasPrefix("-"),
            let option = CommandPath.nearestOption(first)
        {
            return "\(words.message); did you mean \(option)?"
        }
        return words.line
    }
}
