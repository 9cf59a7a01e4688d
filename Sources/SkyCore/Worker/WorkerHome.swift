import Base
import Glibc
import Logging
import Synchronization
import Transport

/// The place of a node's workers: a folder that only this user can enter, with the socket that they connect to, and an
/// actor system of their own, separate from the cluster's.
final class WorkerHome: Sendable {
    /// What workers reach through the socket.
    private struct Reception {
        var system: ClusterSystem
        var listener: WorkerListener
        /// An actor system does not keep its actors alive.
        var actors: [any ClusterActor]
    }

    private let folder: WorkerFolder
    private let socket: String
    private let cluster: String
    /// Begins to listen at the socket. Workers are loaded meanwhile.
    private let opening: Task<Reception, any Error>
    private let logger: Logger
    private let hasLoggedUnlike = Atomic(false)
    private let isListening = Latch()
    private let use = Mutex(Use())

    /// Who needs this home.
    private struct Use {
        /// Workers that are there or are being started.
        var workers = 0
        /// Whether another home is used for new ones.
        var isRetired = false
        var isClosed = false
    }

    /// How long a worker may take to start and to say hello.
    static let startLimit = Duration.seconds(20)

    /// - Parameter tools: the node's tools, for what workers reach of them.
    /// - Throws: `SkyError` if there is no folder to be had.
    init(tools: @escaping @Sendable () async -> NodeTools, logger: Logger) throws {
        self.logger = logger
        folder = try WorkerFolder()
        socket = folder.path("socket")
        // Only a process that was given this name is let in.
        cluster = "workers-\(NodeID.random())"
        var settings = ClusterSettings(name: "daemon")
        settings.cluster = cluster
        settings.listen = .unixSocket(path: socket)
        settings.logger = logger
        opening = Task { [settings, isListening, socket] in
            let system = ClusterSystem(settings)
            let actors = await tools().actorsForWorkers(in: system)
            try await system.start()
            // The umask may have taken the right to connect.
            chmod(socket, 0o600)
            isListening.open()
            return Reception(system: system, listener: WorkerListener(system), actors: actors)
        }
    }

    /// Whether there is a socket that workers can connect to. If there is none, another home may have one.
    var hasSocket: Bool { get async { (try? await opening.value) != nil } }

    /// Whether new workers find all that they need in the folder. It may have been removed while the node runs.
    var isIntact: Bool {
        folder.isIntact && (!isListening.isOpen || access(socket, F_OK) == 0)
    }

    /// Starts a worker and waits until it has said hello. The process is loaded while its rules are made and the socket is opened,
    /// and does nothing before.
    ///
    /// - Parameters:
    ///   - memory: how many bytes of address space the worker may have.
    ///   - groups: where the worker gets a control group; `nil` if it stays in the daemon's group.
    ///   - rules: what the worker may read.
    ///   - reads: what the worker may read, for its messages.
    /// - Returns: the process, its actor, and the number of its rules, `nil` on a machine without Landlock.
    func start(
        _ executable: String, name: String, memory: UInt64, groups: ControlGroups?, rules: ReadRules, reads: ReadPolicy
    ) async throws -> (process: ChildProcess, actor: WorkerActor, rules: Int?) {
        use.withLock { $0.workers += 1 }
        do {
            return try await begin(
                executable, name: name, memory: memory, groups: groups, rules: rules, reads: reads)
        } catch {
            await leave()
            throw error
        }
    }

    private func begin(
        _ executable: String, name: String, memory: UInt64, groups: ControlGroups?, rules: ReadRules, reads: ReadPolicy
    ) async throws -> (process: ChildProcess, actor: WorkerActor, rules: Int?) {
        async let making = rules.current()
        let gate = try StartGate()
        let process = try await ChildProcess.start(
            executable,
            arguments: WorkerArguments(
                socket: socket, cluster: cluster, name: name, memory: memory, parent: getpid(),
                readFolders: reads.folders, inputs: reads.inputs
            ).words,
            standardError: folder.path(name + ".stderr"), gate: gate
        ) { groups?.group(named: name, memory: memory) }
        let (made, reception): (ReadRules.Rules?, Reception)
        do {
            (made, reception) = (try await making, try await opening.value)
        } catch {
            _ = await process.end(within: .zero)
            unlink(folder.path(name + ".stderr"))
            throw error
        }
        gate.open(with: made?.ruleset)
        do {
            let worker = try await reception.listener.hello(of: name, from: process, within: WorkerHome.startLimit)
            // Its program or its libraries may have been replaced since the daemon was started.
            guard worker.arithmetic == JobKinds.arithmetic.text else { throw unlike(worker) }
            let actor = try WorkerActor.resolve(
                id: ActorAddress(node: worker.node, name: WorkerActor.wellKnownName), using: reception.system)
            return (process, actor, made?.number)
        } catch {
            let end = await process.end(within: .milliseconds(200))
            throw SkyError(.failed, "\(error); it \(end) \(lastWords(of: name) ?? "")")
        }
    }

    /// The error of a worker that measures otherwise than the daemon says of this node. It is logged once.
    private func unlike(_ worker: Member) -> SkyError {
        let difference = worker.arithmetic.map { Arithmetic($0).difference(from: JobKinds.arithmetic) }
        let words = PrintableText.of(difference ?? "a worker of another version")
        if !hasLoggedUnlike.exchange(true, ordering: .relaxed) {
            logger.error("the program or its libraries were replaced: restart the node", metadata: ["now": "\(words)"])
        }
        return SkyError(
            .failed,
            "its program or its libraries were replaced after the node was started (\(words)); restart the node")
    }

    /// What a worker wrote to its standard error at its end, in one line. The file is removed. After a fatal error, the
    /// runtime may list where it happened; those lines say less, so the line of the error is preferred.
    func lastWords(of name: String) -> String? {
        let path = folder.path(name + ".stderr")
        defer { unlink(path) }
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        fseek(file, max(0, ftell(file) - 8192), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = fread(&bytes, 1, bytes.count, file)
        let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split { $0.isNewline || $0 == "\0" }
        let words = lines.last { $0.contains("Fatal error") } ?? lines.last
        return words.map { PrintableText.of(String($0.suffix(400))) }
    }

    /// Notes that a worker has ended. The last one closes a home that is no longer used.
    func leave() async {
        let isUnused = use.withLock { use in
            use.workers -= 1
            return use.isRetired && use.workers == 0
        }
        if isUnused { await close() }
    }

    /// Lets the workers that are there end their tasks, for another home takes the new ones.
    func retire() async {
        let isUnused = use.withLock { use in
            use.isRetired = true
            return use.workers == 0
        }
        if isUnused { await close() }
    }

    var isClosed: Bool { use.withLock { $0.isClosed } }

    /// Lets go of the workers, and removes the folder. The pool may close it while a start that failed does.
    func close() async {
        let isFirst = use.withLock { use in
            defer { use.isClosed = true }
            return !use.isClosed
        }
        guard isFirst else { return }
        if let reception = try? await opening.value {
            await reception.system.shutdown()
            reception.listener.stop()
        }
        folder.remove()
    }
}
