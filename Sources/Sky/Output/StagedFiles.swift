import Base
import CLinux
import Glibc
import NIOConcurrencyHelpers

/// Files that are written beside their places first, and then take their places together: all of them, or none.
///
/// The bytes go to a hidden name in the target's own folder (a rename is atomic only inside one file system). They are forced
/// to the disk, and take the target's name as the last step (`rename`(2)). So no reader sees half a catalogue, even
/// after a crash. An error leaves all old files as they were, and removes the temporary ones.
///
/// A file that this program has not made is not replaced, unless the user allows it. It is looked at after the exchange of the two
/// names, too, because somebody may put another file there in between.
///
/// Several threads may write at the same time. To force one file after the other to the disk takes longer than to make most of
/// them, because each waits for the disk, and for the file system's journal twice. Together they wait at the same time:
/// the disk begins with each file as soon as it is complete, and few entries of the journal are enough for all.
package final class StagedFiles: Sendable {
    private struct File {
        var path: String
        var folder: String
        var temporary: String
        var kind: OutputKind
    }

    /// A file that has its name by now.
    private struct Placed {
        var file: File
        /// The name of the old file until all files are placed; `nil` if there was none.
        var old: String?
    }

    /// Those that are complete and have not taken their places, in the order of their writing.
    private let files = NIOLockedValueBox<[File]>([])
    private let overwrites: Bool

    /// What this process has not completed.
    private struct Unfinished {
        var temporaries: Set<String> = []
        /// How many groups of files are given their names now.
        var placements = 0
    }

    private static let unfinished = NIOLockedValueBox(Unfinished())

    /// - Parameter overwrites: Whether files of somebody else are replaced.
    package init(overwrites: Bool = false) { self.overwrites = overwrites }

    deinit { discard() }

    /// Removes the files that have not taken their places. A thread may hold this object until the process has ended, so the end
    /// of this object may come too late.
    package func discard() {
        let files = files.withLockedValue { files in
            defer { files = [] }
            return files
        }
        for file in files { Self.remove(file.temporary) }
    }

    /// Removes all temporary files, as soon as no group of files is given its names. The process must end at once then: its other
    /// threads can neither make a file nor place one any more, because the lock is kept.
    package static func abandon() {
        let state = unfinished.unsafe
        state.lock()
        for _ in 0..<placingPatience where state.withValueAssumingLockIsAcquired({ $0.placements }) > 0 {
            state.unlock()
            usleep(1000)
            state.lock()
        }
        state.withValueAssumingLockIsAcquired { for temporary in $0.temporaries { unlink(temporary) } }
    }

    /// How many milliseconds to wait for files that are given their names. That takes longer only where the disk fails.
    private static let placingPatience = 1000

    /// Writes `bytes` for the file at `path`.
    ///
    /// - Throws: `SkyError` naming the file and the reason.
    package func write(_ bytes: [UInt8], to path: String, as kind: OutputKind) throws(SkyError) {
        try write(to: path, as: kind) { temporary throws(SkyError) in
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else { throw .notWritten(path, errno: errno) }
            return descriptor
        } writing: { descriptor throws(SkyError) in
            defer { close(descriptor) }
            var done = 0
            while done < bytes.count {
                let count = bytes.withUnsafeBytes { all in
                    let rest = UnsafeRawBufferPointer(rebasing: all[done...])
                    return Glibc.write(descriptor, rest.baseAddress, rest.count)
                }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { throw .notWritten(path, errno: count < 0 ? errno : ENOSPC) }
                done += count
            }
        }
    }

    /// Writes the file for `path`.
    ///
    /// - Parameters:
    ///   - making: makes the file with the given temporary name. That is done for one file at a time.
    ///   - writing: writes and closes what was made.
    /// - Throws: `SkyError` naming the file and the reason; what the two throw.
    package func write<Made>(
        to path: String, as kind: OutputKind, making: (_ temporary: String) throws(SkyError) -> Made,
        writing: (Made) throws(SkyError) -> Void
    ) throws(SkyError) {
        let folder = try Self.folder(of: path)
        try kind.check(path, overwrites: overwrites)
        // The name is short and random, so that a long target name still fits and two writers never share a temporary file.
        let temporary = folder + "/" + Self.temporaryName()
        do throws(SkyError) {
            try writing(Self.make(temporary, making))
        } catch {
            Self.remove(temporary)
            throw error
        }
        files.withLockedValue { $0.append(File(path: path, folder: folder, temporary: temporary, kind: kind)) }
        let descriptor = open(temporary, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        // The disk begins, and nobody waits for it. Whether it succeeds is known when the file is flushed.
        sync_file_range(descriptor, 0, 0, UInt32(SYNC_FILE_RANGE_WRITE))
        close(descriptor)
    }

    /// Makes a file. `abandon` finds it, or it is not made any more.
    private static func make<Made>(
        _ temporary: String, _ making: (String) throws(SkyError) -> Made
    ) throws(SkyError) -> Made {
        try unfinished.withLockedValue { unfinished in
            Result { () throws(SkyError) in
                unfinished.temporaries.insert(temporary)
                return try making(temporary)
            }
        }.get()
    }

    /// Forces all files to the disk and gives them their names. If that fails for one, none has its name afterwards, and the old
    /// files are back.
    ///
    /// - Throws: `SkyError` naming the first file that cannot be placed, and the reason.
    package func place() throws(SkyError) {
        let files = files.withLockedValue { files in
            defer { files = [] }
            return files
        }
        do throws(SkyError) {
            // Some file systems find out only now that there is no room.
            for file in files { try Self.flush(file) }
            try takePlaces(of: files)
        } catch {
            for file in files { Self.remove(file.temporary) }
            throw error
        }
        // The names themselves must survive a power cut as well. Some file systems cannot do this for a folder; the data are
        // already safe then, so a refusal is not an error.
        for folder in Set(files.map(\.folder)) {
            let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            fsync(descriptor)
            close(descriptor)
        }
    }

    // MARK: - Names

    /// Gives all files their names, or none. A process that is ended by a signal waits for this (see `abandon`).
    private func takePlaces(of files: [File]) throws(SkyError) {
        Self.unfinished.withLockedValue { $0.placements += 1 }
        defer { Self.unfinished.withLockedValue { $0.placements -= 1 } }
        var placed: [Placed] = []
        do throws(SkyError) {
            for file in files { placed.append(Placed(file: file, old: try take(file))) }
        } catch {
            for one in placed.reversed() { Self.undo(one) }
            throw error
        }
        for one in placed { if let old = one.old { unlink(old) } }
        Self.unfinished.withLockedValue { $0.temporaries.subtract(files.map(\.temporary)) }
    }

    /// Gives a file its name.
    ///
    /// - Returns: the name under which the old file is kept; `nil` if there was none.
    private func take(_ file: File) throws(SkyError) -> String? {
        // Somebody else may make or remove the target in between, but not for ever.
        for _ in 0..<8 {
            if Self.renameToNew(file.temporary, file.path) { return nil }
            guard errno == EEXIST else { throw .notWritten(file.path, errno: errno) }
            try file.kind.check(file.path, overwrites: overwrites)
            Self.keepMode(of: file.path, for: file.temporary)
            guard let old = Self.exchange(file.temporary, file.path) else {
                if errno == ENOENT { continue }
                throw .notWritten(file.path, errno: errno)
            }
            do throws(SkyError) {
                try file.kind.check(old, as: file.path, overwrites: overwrites)
            } catch {
                Self.undo(Placed(file: file, old: old))
                throw error
            }
            return old
        }
        throw .notWritten(file.path, errno: EBUSY)
    }

    /// Gives a file the rights of the one that it replaces: its owner may have closed that to others.
    private static func keepMode(of old: String, for new: String) {
        var status = stat()
        guard lstat(old, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        chmod(new, status.st_mode & 0o777)
    }

    /// Renames a file if nothing has the new name; otherwise `errno` is EEXIST.
    private static func renameToNew(_ temporary: String, _ path: String) -> Bool {
        if renameat2(AT_FDCWD, temporary, AT_FDCWD, path, UInt32(RENAME_NOREPLACE)) == 0 { return true }
        // NFS has neither this nor the exchange.
        guard errno == EINVAL || errno == ENOSYS else { return false }
        if link(temporary, path) == 0 {
            unlink(temporary)
            return true
        }
        // Some file systems have no links. There it is not noticed if the target is made just now.
        guard errno != EEXIST else { return false }
        var status = stat()
        guard lstat(path, &status) != 0 else {
            errno = EEXIST
            return false
        }
        return rename(temporary, path) == 0
    }

    /// Puts a file in the place of another one.
    ///
    /// - Returns: the name that the old file has now; `nil` if that failed, and `errno` has the reason.
    private static func exchange(_ temporary: String, _ path: String) -> String? {
        if renameat2(AT_FDCWD, temporary, AT_FDCWD, path, UInt32(RENAME_EXCHANGE)) == 0 { return temporary }
        guard errno == EINVAL || errno == ENOSYS else { return nil }
        let old = String(temporary.lastIndex(of: "/").map { temporary[...$0] } ?? "") + temporaryName()
        // With a link the target is there all the time.
        guard link(path, old) == 0 || rename(path, old) == 0 else { return nil }
        guard rename(temporary, path) == 0 else {
            let reason = errno
            rename(old, path)
            unlink(old)
            errno = reason
            return nil
        }
        return old
    }

    private static func undo(_ placed: Placed) {
        if let old = placed.old { rename(old, placed.file.path) } else { unlink(placed.file.path) }
    }

    private static func temporaryName() -> String {
        ".skynode-" + String(UInt64.random(in: 0 ... .max), radix: 16) + ".partial"
    }

    /// The number of bytes that a temporary path has more than its folder.
    package static let temporaryLength = "/.skynode-0123456789abcdef.partial".utf8.count

    private static func remove(_ temporary: String) {
        unlink(temporary)
        unfinished.withLockedValue { _ = $0.temporaries.remove(temporary) }
    }

    /// The folder part of `path`. It is never a bare name: libraries give a leading `~` or `!` a meaning, and `./` prevents
    /// that.
    private static func folder(of path: String) throws(SkyError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw SkyError(.badInput, "an empty name cannot be written")
        }
        guard !path.hasSuffix("/") else { throw .notWritten(path, errno: EISDIR) }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        let folder = String(path[..<slash])
        if folder.isEmpty { return "/." }
        return folder.hasPrefix("/") ? folder : "./" + folder
    }

    private static func flush(_ file: File) throws(SkyError) {
        let descriptor = open(file.temporary, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .notWritten(file.path, errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .notWritten(file.path, errno: errno) }
    }
}
