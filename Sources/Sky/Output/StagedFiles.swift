import Base
import CLinux
import Glibc
import NIOConcurrencyHelpers

/// Files that are written beside their places first, and then take their places together.
///
/// The bytes go to a hidden name in the target's own folder (a rename is atomic only inside one file system). They are forced
/// to the disk, and take the target's name as the last step (POSIX.1-2017, `rename`). So no reader sees half a catalogue, even
/// after a crash. An error leaves the old file as it was, and removes the temporary one.
///
/// Several threads may write at the same time. To force one file after the other to the disk takes longer than to make most of
/// them, because each waits for the disk, and for the file system's journal twice. Together they wait at the same time:
/// the disk begins with each file as soon as it is complete, and few entries of the journal are enough for all.
package final class StagedFiles: Sendable {
    private struct File {
        var path: String
        var folder: String
        var temporary: String
    }

    /// Those that are complete and have not taken their places, in the order of their writing.
    private let files = NIOLockedValueBox<[File]>([])

    package init() {}

    deinit {
        for file in files.withLockedValue({ $0 }) { unlink(file.temporary) }
    }

    /// Writes `bytes` for the file at `path`.
    ///
    /// - Throws: `SkyError` naming the file and the reason.
    package func write(_ bytes: [UInt8], to path: String) throws(SkyError) {
        try write(to: path) { temporary throws(SkyError) in
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else { throw .notWritten(path, errno: errno) }
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

    /// Lets `body` make the file for `path` with the given temporary name.
    ///
    /// - Throws: `SkyError` naming the file and the reason; what `body` throws.
    package func write(
        to path: String, by body: (_ temporary: String) throws(SkyError) -> Void
    ) throws(SkyError) {
        let folder = try Self.folder(of: path)
        // The name is short and random, so that a long target name still fits and two writers never share a temporary file.
        let temporary = folder + "/.skynode-" + String(UInt64.random(in: 0 ... .max), radix: 16) + ".partial"
        do throws(SkyError) {
            try body(temporary)
        } catch {
            unlink(temporary)
            throw error
        }
        files.withLockedValue { $0.append(File(path: path, folder: folder, temporary: temporary)) }
        let descriptor = open(temporary, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        // The disk begins, and nobody waits for it. Whether it succeeds is known when the file is flushed.
        sync_file_range(descriptor, 0, 0, UInt32(SYNC_FILE_RANGE_WRITE))
        close(descriptor)
    }

    /// Forces all files to the disk and gives them their names. A file for which that fails is removed, and does not hold up the
    /// others.
    ///
    /// - Throws: `SkyError` naming the first file that cannot be placed, and the reason.
    package func place() throws(SkyError) {
        let files = files.withLockedValue { files in
            defer { files = [] }
            return files
        }
        var failure: SkyError?
        var folders: Set<String> = []
        for file in files {
            do throws(SkyError) {
                try Self.flush(file)
                guard rename(file.temporary, file.path) == 0 else { throw SkyError.notWritten(file.path, errno: errno) }
                folders.insert(file.folder)
            } catch {
                unlink(file.temporary)
                failure = failure ?? error
            }
        }
        // The names themselves must survive a power cut as well. Some file systems cannot do this for a folder; the data are
        // already safe then, so a refusal is not an error.
        for folder in folders {
            let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            fsync(descriptor)
            close(descriptor)
        }
        if let failure { throw failure }
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
