import ArgumentParser
import Base
import Glibc
import NIOPosix
import SkyCore

/// `skynode worker`: one worker process. A daemon starts it, and never a person. It comes here only where the command line is not that
/// of a daemon, see `WorkerArguments`.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: WorkerArguments.command, abstract: "A worker process of a daemon, which starts it.",
        shouldDisplay: false)

    @Option var socket: String
    @Option var cluster: String
    @Option var name: String
    @Option var memory: UInt64
    @Option var parent: pid_t
    /// Whether the daemon holds this process back until it hands over the rules of what may be read.
    @Flag var gate = false
    /// Where images may be read; empty for everywhere.
    @Option var inputs: String?
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
        if !isComparison { try Sandbox.enter(hasGate: arguments.contains(WorkerArguments.gate)) }
    }

    func run() async throws {
        guard trials.isEmpty else {
            WorkerProcess.limit(memory: memory)
            return try await runTrials()
        }
        let arguments = WorkerArguments(
            socket: socket, cluster: cluster, name: name, memory: memory, parent: parent, readFolders: readFolders,
            inputs: inputs)
        try await WorkerProcess(arguments: arguments).run()
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
