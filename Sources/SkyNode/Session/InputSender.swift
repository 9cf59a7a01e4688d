import Base
import Distributed
import Glibc
import NIOCore
import NIOPosix
import Sky
import SkyCore
import Transport

/// Sends files that lie on this machine only to the node that has the command's jobs, because a command is no node that others
/// could get pixels from.
actor InputSender {
    private let coordinator: CoordinatorConnection
    private let say: @Sendable (String) -> Void
    /// One file is sent after the other: the link is the same for all.
    private var last: Task<Void, Never>?
    /// What was sent, by path.
    private var sent: [String: FileContent] = [:]

    /// How long a node may take for a part, and to digest a large file whose last part has come.
    fileprivate static let patience = Duration.seconds(300)

    /// - Parameter say: prints what is being sent.
    init(_ coordinator: CoordinatorConnection, say: @escaping @Sendable (String) -> Void) {
        (self.coordinator, self.say) = (coordinator, say)
    }

    /// The scan with a sample of what its files hold on this machine, so that no node of another machine takes another file under the
    /// same path for them. Files that this machine does not have are those of the nodes.
    func expecting(_ job: JobRequest) async throws -> JobRequest {
        guard coordinator.isRemote, var scan = job.kind.scan else { return job }
        let known = scan.image.contents.map(\.path)
        let paths = scan.image.paths.filter { !known.contains($0) }
        let found = try await NIOThreadPool.singleton.runIfActive {
            paths.compactMap { path in (try? FileContent(of: path, sampled: true)).map { (path, $0) } }
        }
        for (path, content) in found { scan.image.expect(content, at: path) }
        var expecting = job
        expecting.kind = .sky(scan)
        return expecting
    }

    /// Sends the files that no node could reach, if that is why a scan has failed.
    ///
    /// - Parameters:
    ///   - id: the job, which is forgotten if another one is to take its place.
    ///   - report: how the scan has ended.
    /// - Returns: the scan with what its files hold; `nil` where nothing is to be sent.
    /// - Throws: `SkyError` with the file that cannot be sent and what to do.
    func completed(_ job: JobRequest, _ id: JobID, after report: JobReport) async throws -> JobRequest? {
        guard coordinator.isElsewhere, ![.done, .cancelled].contains(report.state), let reason = report.reason,
            InputSender.saysMissing(reason), var scan = job.kind.scan
        else { return nil }
        let known = scan.image.contents.filter { $0.content.isSample != true }.map(\.path)
        let missing = scan.image.paths.filter { !known.contains($0) }
        let named = missing.filter { reason.contains(FITSSniff.quoted($0)) }
        let paths = (named.isEmpty ? missing : named).filter { access($0, R_OK) == 0 }
        guard !paths.isEmpty else { return nil }
        for path in paths { scan.image.expect(try await send(path), at: path) }
        // Nobody can do anything with it.
        try? await coordinator.call { try await $0.delete(id) }
        var completed = job
        completed.kind = .sky(scan)
        return completed
    }

    /// Whether a scan has failed because its file is on no node. A file that a node has and keeps its workers from is not sent: it
    /// lies where its operator lets nobody read.
    private static func saysMissing(_ reason: String) -> Bool {
        reason.contains("no node can reach its input")
            && ["no such file on this node", "it is not the file that the command has"].contains { reason.contains($0) }
    }

    /// The events without those that say that no node has a file: the command may have it, and if it cannot help, the job's reason
    /// says the same.
    static func withoutMissing(_ batch: EventBatch, from coordinator: CoordinatorConnection) -> EventBatch {
        guard coordinator.isElsewhere else { return batch }
        var batch = batch
        batch.events.removeAll {
            if case .failed(_, let reason) = $0.kind { saysMissing(reason) } else { false }
        }
        return batch
    }

    /// Sends files of an image once more, if the node has removed them meanwhile.
    func refresh(_ image: ImageReference) async throws {
        for path in image.paths where sent[path] != nil { _ = try await send(path) }
    }

    private func send(_ path: String) async throws -> FileContent {
        let before = last
        let task = Task {
            await before?.value
            return try await put(path)
        }
        last = Task { _ = try? await task.value }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func put(_ path: String) async throws -> FileContent {
        do {
            let known = sent[path]
            var content = try await NIOThreadPool.singleton.runIfActive {
                if let known, (try? FileStamp(of: path))?.resembles(known) == true { return known }
                return try FileContent(of: path)
            }
            try await put(path, content)
            // It is another place there, which has nothing to do with this machine.
            content.identity = nil
            sent[path] = content
            return content
        } catch {
            guard !(error is CancellationError) else { throw error }
            throw SkyError(
                .failed,
                "\(path): this machine has it, but runs no node, and it cannot be sent to one (\(InputSender.reason(error))); copy it to a "
                    + "folder that a node reads under the same path, or run `skynode serve` here")
        }
    }

    private func put(_ path: String, _ content: FileContent) async throws {
        var next = try await coordinator.put(InputPart(digest: content.digest, size: content.size))
        guard next < content.size else { return }
        say("skynode: \(PrintableText.of(path)): no node has it; sending \(content.size >> 10) KiB")
        var isStuck = 0
        while next < content.size {
            let offset = next
            let bytes = try await NIOThreadPool.singleton.runIfActive {
                try InputSender.read(path, offset, min(InputPart.limit, content.size - offset))
            }
            let part = InputPart(
                digest: content.digest, size: content.size, offset: offset, bytes: ByteBuffer(bytes: bytes))
            next = try await coordinator.put(part)
            // A node that is asked twice, because the link was lost, may still write the part.
            isStuck = next == offset ? isStuck + 1 : 0
            guard isStuck < 100 else { throw SkyError(.failed, "the node does not take it") }
            if isStuck > 0 { try await Task.sleep(for: .milliseconds(100)) }
        }
    }

    private static func read(_ path: String, _ offset: Int, _ count: Int) throws(SkyError) -> [UInt8] {
        let file = try RegularFile(path)
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let found = bytes.withUnsafeMutableBytes { all in
                pread(file.descriptor, all.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
            }
            if found < 0, errno == EINTR { continue }
            guard found >= 0 else { throw file.failure() }
            guard found > 0 else { throw FileContent.changed(path) }
            done += found
        }
        return bytes
    }

    private static func reason(_ error: any Error) -> String {
        PrintableText.of((error as? SkyError)?.message ?? (error as? RemoteError)?.message ?? "\(error)")
    }
}

extension CoordinatorConnection {
    /// Gives the node that is asked a part of a file.
    ///
    /// - Returns: the place of the byte that it wants next.
    fileprivate nonisolated func put(_ part: InputPart) async throws -> Int {
        let reply = try await call { coordinator in
            let actor = try InputActor.resolve(
                id: ActorAddress(node: coordinator.id.node, name: InputActor.wellKnownName),
                using: coordinator.actorSystem)
            do {
                return try await withDeadline(InputSender.patience) { try await actor.put(part) }
            } catch let error as RemoteError where error.kind == .noSuchActor {
                // It is not restarting, because its coordinator answers.
                throw SkyError(
                    .failed, "the node takes no files: it is of an earlier version, or has no folder of its own")
            }
        }
        guard (0...part.size).contains(reply.next) else { throw SkyError(.failed, "the node wants what is not in it") }
        return reply.next
    }
}
