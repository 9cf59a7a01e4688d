import Glibc
import Logging
import Transport

/// Where a node's workers live: a folder that only this user can enter, with the socket they connect to, and an
/// actor system of their own, apart from the cluster's.
final class WorkerHome: Sendable {
    let system: ClusterSystem
    private let folder: WorkerFolder
    private let socket: String
    private let cluster: String
    private let listener: WorkerListener

    /// Time for a worker to start and to say hello.
    static let startLimit = Duration.seconds(20)

    init(logger: Logger) async throws {
        folder = try WorkerFolder()
        socket = folder.path("socket")
        // Only a process that was told this name is let in.
        cluster = "workers-\(NodeID.random())"
        var settings = ClusterSettings(name: "daemon")
        settings.cluster = cluster
        settings.listen = .unixSocket(path: socket)
        settings.logger = logger
        system = ClusterSystem(settings)
        do {
            try await system.start()
        } catch {
            folder.remove()
            throw error
        }
        listener = WorkerListener(system)
    }

    /// Starts a worker and waits until it has said hello.
    func start(_ executable: String, name: String) async throws -> (ChildProcess, NodeID) {
        let process = try ChildProcess(
            executable, arguments: ["worker", "--socket", socket, "--cluster", cluster, "--name", name],
            standardError: folder.path(name + ".stderr"))
        do {
            return (process, try await listener.hello(of: name, from: process, within: WorkerHome.startLimit))
        } catch {
            let end = await process.end(within: .milliseconds(200))
            throw SkyError(.failed, "\(error); it \(end) \(lastWords(of: name) ?? "")")
        }
    }

    /// The end of what a worker wrote to its standard error, in one line; the file is removed.
    func lastWords(of name: String) -> String? {
        let path = folder.path(name + ".stderr")
        defer { unlink(path) }
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        fseek(file, max(0, ftell(file) - 400), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: 400)
        let count = fread(&bytes, 1, bytes.count, file)
        let words = String(decoding: bytes.prefix(count), as: UTF8.self).split { $0.isNewline || $0 == "\0" }
        return words.last.map { PrintableText.of(String($0)) }
    }

    func close() async {
        await system.shutdown()
        listener.stop()
        folder.remove()
    }
}
