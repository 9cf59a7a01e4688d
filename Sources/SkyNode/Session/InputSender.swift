import Base
import Distributed
import Glibc
import NIOConcurrencyHelpers
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
    /// The files of one job are sent after those of the other: the link is the same for all.
    private let turns = Turns()
    /// What was sent or is to be, by path.
    private var sent: [String: FileContent] = [:]
    /// How many submissions are under way that need each file, by its digest.
    private var held: [[UInt8]: Int] = [:]
    private let reports = Turns()
    /// Tells the node again and again what is held. It ends by itself and belongs to this actor.
    private var renewal: Task<Void, Never>?

    /// A node keeps files for a minute after it was told.
    private static let renewalTime = Duration.seconds(15)

    /// How long a node may take for a part, and to digest a large file whose last part has come.
    fileprivate static let patience = Duration.seconds(300)

    /// - Parameter say: prints what is being sent.
    init(_ coordinator: CoordinatorConnection, say: @escaping @Sendable (String) -> Void) {
        (self.coordinator, self.say) = (coordinator, say)
    }

    /// The scan with a sample of what its files hold for this command, so that no node takes another file under the same path for
    /// them: a node of another machine may have one, and so may a node of this machine that sees other mounts, as one in a
    /// container does. Files that this command does not have are those of the nodes.
    func expecting(_ job: JobRequest) async throws -> JobRequest {
        guard coordinator.isElsewhere, var scan = job.kind.scan else { return job }
        let known = scan.image.contents.map(\.path)
        let paths = scan.image.paths.filter { !known.contains($0) }
        let found = try await NIOThreadPool.singleton.runIfActive {
            paths.compactMap { path in (try? FileContent(of: path, sampled: true)).map { (path, $0) } }
        }
        for (path, content) in found { scan.image.expect(content, at: path) }
        var expecting = job
        if !found.isEmpty { expecting.options.sendsInput = true }
        expecting.kind = .sky(scan)
        return expecting
    }

    /// The scan with what its files hold that no node could reach, if that is why it has failed. They are sent when it is submitted.
    ///
    /// - Parameter report: how the scan has ended.
    /// - Returns: `nil` where nothing is to be sent.
    /// - Throws: `SkyError` with the file that cannot be sent and what to do.
    func completed(_ job: JobRequest, after report: JobReport) async throws -> JobRequest? {
        guard coordinator.isElsewhere, ![.done, .cancelled].contains(report.state), let reason = report.reason,
            InputSender.saysMissing(reason), var scan = job.kind.scan
        else { return nil }
        let known = scan.image.contents.filter { $0.content.isSample != true }.map(\.path)
        let unknown = scan.image.paths.filter { !known.contains($0) && access($0, R_OK) == 0 }
        let named = unknown.filter { reason.contains(FITSSniff.quoted($0)) }
        let needed = named.isEmpty ? unknown : named
        for path in needed { scan.image.expect(try await content(of: path), at: path) }
        if OutOfReach.mayBeElsewhere(reason), let objection = try await objection(to: needed) {
            // The nodes that may have it are waited for.
            say("skynode: \(PrintableText.of(objection)); waiting for the other nodes, which may have it")
            var waiting = job
            waiting.options.sendsInput = nil
            return waiting
        }
        if unknown.isEmpty {
            // They were sent. The node has lost them since, or another one answers in its place.
            let own = Set(known.compactMap { sent[$0]?.digest })
            guard !own.isEmpty, try await !missing(own).isDisjoint(with: own) else { return nil }
        }
        var completed = job
        completed.kind = .sky(scan)
        // What is left is on nodes only.
        if scan.image.contents.allSatisfy({ $0.content.isSample != true }) { completed.options.sendsInput = nil }
        return completed
    }

    /// Whether a scan has failed because its file is on no node that could have begun it. A file that a node has and keeps its workers
    /// from is not sent: it lies where its operator lets nobody read.
    fileprivate static func saysMissing(_ reason: String) -> Bool {
        OutOfReach.isReason(reason) && FITSSniff.saysMissing(reason)
    }

    // MARK: - Files of the next jobs

    /// Submits a job while the node keeps the files for it that were sent, or are to be. Those that it lacks are sent first, when there
    /// is room for them.
    ///
    /// All files of a job are sent before those of the next: two jobs that each have half of theirs would wait for each other.
    ///
    /// - Throws: what `submit` throws; `SkyError` with the file that cannot be sent and what to do.
    func submit<Started: Sendable>(
        _ request: JobRequest, _ interrupts: Interrupts, _ submit: @Sendable (JobRequest) async throws -> Started
    ) async throws -> Started {
        let inputs = request.kind.request.inputs
        let files = sent.filter { inputs.contains($0.value.digest) }
        guard !files.isEmpty else { return try await submit(request) }
        try await turns.take { try await self.bring(files, interrupts) }
        do {
            let started = try await submit(await held(request))
            await release(files)
            return started
        } catch {
            await release(files)
            throw error
        }
    }

    /// The scan with the node that has its files now, which reads them for those that work on it.
    private func held(_ request: JobRequest) async -> JobRequest {
        guard var scan = request.kind.scan else { return request }
        var held = request
        scan.image.holder = await coordinator.holder
        held.kind = .sky(scan)
        return held
    }

    /// Sends the files of a job, and holds them.
    private func bring(_ files: [String: FileContent], _ interrupts: Interrupts) async throws {
        let together = InputSender.size(of: Array(files.values))
        while true {
            try interrupts.check()
            let ended = coordinator.line.ended
            hold(files)
            do {
                _ = try await missing([])
                for (path, content) in files.sorted(by: { $0.key < $1.key }) {
                    try await put(path, content, together: together)
                }
                return
            } catch {
                // Another command may wait for the same room.
                await release(files)
                guard let refusal = error as? PassingRefusal else { throw error }
                await coordinator.line.tell(refusal.message) { [say] in say($0) }
                try await coordinator.line.untilJobEnds(since: ended, interrupts)
            }
        }
    }

    /// How many bytes files take on a node, which keeps each content once.
    private static func size(of files: [FileContent]) -> Int {
        Dictionary(files.map { ($0.digest, $0.size) }) { one, _ in one }.values.reduce(0, +)
    }

    private func hold(_ files: [String: FileContent]) {
        for content in files.values { held[content.digest, default: 0] += 1 }
        guard renewal == nil else { return }
        // It ends by itself.
        renewal = Task {
            defer { renewal = nil }
            while (try? await Task.sleep(for: InputSender.renewalTime)) != nil, !held.isEmpty {
                _ = try? await missing([])
            }
        }
    }

    private func release(_ files: [String: FileContent]) async {
        for content in files.values {
            let count = (held[content.digest] ?? 0) - 1
            held[content.digest] = count > 0 ? count : nil
        }
        // Where this is lost, the node keeps them for a minute.
        _ = try? await missing([])
    }

    /// Tells the node which files are held now.
    ///
    /// - Parameter others: files of which it is asked whether they are there.
    /// - Returns: those that it lacks.
    private func missing(_ others: Set<[UInt8]>) async throws -> Set<[UInt8]> {
        // What is said last must come last.
        try await reports.take { [coordinator] in
            try await coordinator.hold(InputHold(others.union(await self.held.keys)))
        }
    }

    // MARK: - Sending

    private func content(of path: String) async throws -> FileContent {
        do {
            let known = sent[path]
            var content = try await NIOThreadPool.singleton.runIfActive {
                if let known, (try? FileStamp(of: path))?.resembles(known) == true { return known }
                return try FileContent(of: path)
            }
            // It is another place there, which has nothing to do with this machine.
            content.identity = nil
            sent[path] = content
            return content
        } catch {
            throw InputSender.failure(path, error)
        }
    }

    /// Why files can never be sent; `nil` where they can, now or later.
    private func objection(to paths: [String]) async throws -> String? {
        let together = InputSender.size(of: paths.compactMap { sent[$0] })
        for (path, content) in sent.sorted(by: { $0.key < $1.key }) where paths.contains(path) {
            do {
                var question = InputPart(digest: content.digest, size: content.size)
                question.together = together
                _ = try await coordinator.put(question)
            } catch is PassingRefusal {
                continue
            } catch let error as CancellationError {
                throw error
            } catch {
                return "\(path) cannot be sent (\(InputSender.reason(error)))"
            }
        }
        return nil
    }

    private func put(_ path: String, _ content: FileContent, together: Int) async throws {
        do {
            try await send(path, content, together)
        } catch let refusal as PassingRefusal {
            throw PassingRefusal(refusal.cause, "\(path) cannot be sent now: \(refusal.message)")
        } catch {
            throw InputSender.failure(path, error)
        }
    }

    private static func failure(_ path: String, _ error: any Error) -> any Error {
        guard !(error is CancellationError) else { return error }
        return SkyError(
            .failed,
            "\(path): this machine has it, but runs no node, and it cannot be sent to one (\(reason(error))); copy it to a "
                + "folder that a node reads under the same path, or run `skynode serve` here")
    }

    private func send(_ path: String, _ content: FileContent, _ together: Int) async throws {
        var question = InputPart(digest: content.digest, size: content.size)
        question.together = together
        var next = try await coordinator.put(question)
        guard next < content.size else { return }
        say(
            "skynode: \(PrintableText.of(path)): no node that can take it now has it; sending \(content.size >> 10) KiB"
        )
        var isStuck = 0
        while next < content.size {
            let offset = next
            let bytes = try await NIOThreadPool.singleton.runIfActive {
                try InputSender.read(path, offset, min(InputPart.limit, content.size - offset))
            }
            var part = question
            (part.offset, part.bytes) = (offset, ByteBuffer(bytes: bytes))
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

/// Holds back the failures of one job that say that no node has a file, until the job has ended. If they made it fail, the command
/// may have the file, and if it cannot help, the job's reason says the same. A job that was done without these tasks tells of them.
struct MissingFiles: Sendable {
    private let isElsewhere: Bool
    private let held = NIOLockedValueBox<[JobEvent]>([])

    /// - Parameter isElsewhere: whether the job is another process's, to which files can be sent.
    init(isElsewhere: Bool) { self.isElsewhere = isElsewhere }

    /// The events that are told now.
    func told(_ batch: EventBatch) -> EventBatch {
        guard isElsewhere else { return batch }
        var batch = batch
        batch.events = held.withLockedValue { held in
            batch.events.flatMap { event -> [JobEvent] in
                switch event.kind {
                case .failed(_, let reason) where InputSender.saysMissing(reason):
                    held.append(event)
                    return []
                case .ended(let report):
                    defer { held = [] }
                    return ([.done, .cancelled].contains(report.state) ? held : []) + [event]
                default:
                    return [event]
                }
            }
        }
        return batch
    }
}

extension CoordinatorConnection {
    /// Gives the node that is asked a part of a file.
    ///
    /// - Returns: the place of the byte that it wants next.
    fileprivate nonisolated func put(_ part: InputPart) async throws -> Int {
        let reply = try await callInputs { try await $0.put(part) }
        guard (0...part.size).contains(reply.next) else { throw SkyError(.failed, "the node wants what is not in it") }
        return reply.next
    }

    /// Tells the node that is asked which files are needed soon.
    ///
    /// - Returns: those that it lacks.
    fileprivate nonisolated func hold(_ files: InputHold) async throws -> Set<[UInt8]> {
        try await callInputs { try await $0.hold(files) }.missing
    }

    private nonisolated func callInputs<Reply: Sendable>(
        _ body: @Sendable (InputActor) async throws -> Reply
    ) async throws -> Reply {
        try await call { coordinator in
            let actor = try InputActor.resolve(
                id: ActorAddress(node: coordinator.id.node, name: InputActor.wellKnownName),
                using: coordinator.actorSystem)
            do {
                return try await withDeadline(InputSender.patience) { try await body(actor) }
            } catch let error as RemoteError where error.kind == .noSuchActor {
                // It is not restarting, because its coordinator answers.
                throw SkyError(
                    .failed, "the node takes no files: it is of an earlier version, or has no folder of its own")
            }
        }
    }
}
