import Base
import Cryptography
import Glibc
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Transport

/// The files that commands have sent to this node. Each has the digest of its bytes as its name, is there whole or not at all, and
/// is read by the node's confined workers only.
package actor InputStore {
    /// Where the files are.
    nonisolated let folder: String
    private let logger: Logger
    /// The most bytes of all files together, whatever room the disk has.
    private let limit: Int
    private var table = InputTable()
    private var files: [InputTable.Upload: InputFile] = [:]
    /// The files that were sent since the start.
    private var sent: Set<[UInt8]> = []
    /// The files that jobs need that have not ended.
    private var needed: @Sendable () async -> Set<[UInt8]> = { [] }

    /// The name of the folder in a node's data folder.
    package static let name = "inputs"

    /// Makes the folder, if it is missing, and removes what was left unfinished there.
    ///
    /// - Returns: `nil` where there is none to be had.
    init?(in data: String, limit: Int, logger: Logger) {
        (folder, self.limit, self.logger) = (data + "/" + InputStore.name, limit, logger)
        var status = stat()
        mkdir(folder, 0o700)
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            return nil
        }
        for entry in FolderEntry.all(in: folder) ?? [] {
            let path = folder + "/" + entry.text
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            // Nothing else is removed, whoever has put it there.
            if InputFile.isUnfinished(entry.text) { unlink(path) }
            guard let digest = HexText.bytes(entry.text), digest.count == SHA256.length else { continue }
            DatabaseFile.tighten(path)
            table.found(digest, size: Int(status.st_size), used: .seconds(status.st_mtim.tv_sec))
        }
    }

    func setNeeded(_ needed: @escaping @Sendable () async -> Set<[UInt8]>) { self.needed = needed }

    /// Takes a part of a file.
    ///
    /// - Parameters:
    ///   - owner: the person's name.
    ///   - limit: the most bytes that the person's jobs may store; `nil` for no limit.
    /// - Returns: the place of the byte that is wanted next.
    /// - Throws: `SkyError` where the file cannot be taken, `PassingRefusal` where there is no room for it now.
    func put(_ part: InputPart, of owner: String, limit: Int?) async throws -> Int {
        let upload = InputTable.Upload(owner: owner, digest: part.digest)
        lookFor(part.digest)
        // A job that is stored in between has its files on hold until then: looked at in this order, none is overlooked.
        var needed = table.filesOnHold(at: InputStore.now)
        if !table.knows(upload) {
            needed.formUnion(await self.needed())
            for ended in table.endIdle(at: InputStore.now) { files[ended] = nil }
        }
        let answer = try table.handle(
            upload, size: part.size, together: part.together, in: room(limit), needed: needed, at: InputStore.now)
        guard case .wanted(let next, let removed) = answer else {
            files[upload] = nil
            utimes(path(part.digest), nil)
            return part.size
        }
        await remove(removed)
        if files[upload] == nil {
            do throws(SkyError) {
                files[upload] = try InputFile(in: folder)
            } catch {
                table.abandon(upload)
                throw error
            }
        }
        guard let file = files[upload], part.offset == next, part.bytes.readableBytes > 0, file.begin() else {
            return next
        }
        defer { file.end() }
        do {
            try await NIOThreadPool.singleton.runIfActive {
                try file.write(Array(part.bytes.readableBytesView), at: next)
            }
            guard table.received(part.bytes.readableBytes, of: upload, at: InputStore.now) else {
                return next + part.bytes.readableBytes
            }
            let path = path(part.digest)
            try await NIOThreadPool.singleton.runIfActive { try file.place(at: path, holding: part.digest) }
            table.complete(upload, at: InputStore.now)
            sent.insert(part.digest)
            files[upload] = nil
            logger.info(
                "a file was sent to this node", metadata: ["bytes": "\(part.size)", "by": "\(PrintableText.of(owner))"])
            return part.size
        } catch {
            table.abandon(upload)
            files[upload] = nil
            // The thread that wrote it may hold it a moment longer.
            file.discard()
            throw error as? SkyError ?? SkyError(.failed, "\(error)")
        }
    }

    /// Keeps files for the jobs that a command is about to submit.
    ///
    /// - Returns: those that are not here.
    func hold(_ digests: Set<[UInt8]>, by holder: NodeID?) -> Set<[UInt8]> {
        for digest in digests { lookFor(digest) }
        table.hold(digests, by: holder, at: InputStore.now)
        return digests.filter { table.stored[$0] == nil }
    }

    /// Forgets a file that somebody has removed.
    private func lookFor(_ digest: [UInt8]) {
        if table.stored[digest] != nil, access(path(digest), R_OK) != 0 { table.lost(digest) }
    }

    /// Removes files that nobody needs any more, until it is cancelled.
    func run() async {
        repeat {
            let (old, ended) = table.sweep(needed: await needed(), at: InputStore.now)
            for upload in ended { files[upload] = nil }
            await remove(old)
        } while (try? await Task.sleep(for: InputTable.patience)) != nil
    }

    /// Removes files of which the table knows no more. One that was here at the start may be anybody's: it is removed if it has the
    /// digest that its name says, as each that was sent has.
    private func remove(_ digests: [[UInt8]]) async {
        for digest in digests {
            let path = path(digest)
            if sent.remove(digest) == nil {
                let found = try? await NIOThreadPool.singleton.runIfActive { InputFile.digest(of: path) }
                guard let found, found == digest else {
                    logger.warning(
                        "a file is not removed: its name is a digest, and not its own",
                        metadata: ["file": "\(PrintableText.of(path))"])
                    continue
                }
                // The same bytes may have been sent meanwhile.
                guard !table.knows(digest) else { continue }
            }
            unlink(path)
        }
    }

    private func path(_ digest: [UInt8]) -> String { folder + "/" + HexText.of(digest) }

    /// How many bytes there may be: a quarter of what the disk has free or these files take, and half of that of one person.
    private func room(_ personal: Int?) -> InputTable.Room {
        guard let disk = DiskSpace(of: folder) else { return InputTable.Room(node: 0, person: 0) }
        let (sum, overflow) = disk.available.addingReportingOverflow(table.held)
        let node = min(overflow ? limit : sum / 4, limit)
        return InputTable.Room(node: node, person: min(node / 2, personal ?? .max))
    }

    /// Since 1970, because files stay here when the node is started again.
    private static var now: Duration { .seconds(time(nil)) }
}

/// A file that is being sent. It is removed with this value, unless it is whole and has its place.
private final class InputFile: Sendable {
    private static let ending = ".partial"

    /// Whether a name is one that this type gives.
    static func isUnfinished(_ name: String) -> Bool {
        name.hasSuffix(ending) && HexText.bytes(String(name.dropLast(ending.count)))?.count == 8
    }

    private let path: String
    private let descriptor: Int32
    /// Whether a part is being written: the same command may ask again when its link was lost.
    private let isBusy = Atomic(false)

    init(in folder: String) throws(SkyError) {
        path = folder + "/" + HexText.of(UInt64.random(in: 0 ... .max)) + InputFile.ending
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw InputFile.failure() }
    }

    deinit {
        close(descriptor)
        discard()
    }

    /// Removes the file under the name that it has while it is being sent.
    func discard() { unlink(path) }

    func begin() -> Bool { !isBusy.exchange(true, ordering: .acquiring) }

    func end() { isBusy.store(false, ordering: .releasing) }

    func write(_ bytes: [UInt8], at offset: Int) throws(SkyError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { all in
                pwrite(descriptor, all.baseAddress.map { $0 + done }, all.count - done, off_t(offset + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw InputFile.failure() }
            done += count
        }
    }

    /// Gives the file its name, if it holds what it should.
    func place(at target: String, holding digest: [UInt8]) throws(SkyError) {
        guard fsync(descriptor) == 0 else { throw InputFile.failure() }
        guard let found = InputFile.digest(of: path) else {
            throw SkyError(.failed, "the node cannot read it again")
        }
        guard found == digest else {
            throw SkyError(.badInput, "the bytes that came are not those of the file; did it change while it was sent?")
        }
        var status = stat()
        if lstat(target, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            errno = EEXIST
            throw InputFile.failure()
        }
        guard rename(path, target) == 0 else { throw InputFile.failure() }
    }

    /// SHA-256 of a file; `nil` where it cannot be read.
    static func digest(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var hash = SHA256()
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(file, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? hash.finalize() : nil }
            hash.update(bytes[..<count])
        }
    }

    private static func failure() -> SkyError {
        SkyError(.failed, "the node cannot write it: \(String(cString: strerror(errno)))")
    }
}
