import Base
import Glibc

/// A file that appears completely or not at all.
///
/// The bytes go to a hidden name in the target's own folder (a rename is atomic only inside one file system). They are forced
/// to the disk, and take the target's name as the last step (POSIX.1-2017, `rename`). So no reader sees half a catalogue, even
/// after a crash. An error leaves the old file as it was, and removes the temporary file.
package enum AtomicFile {
    /// Replaces the file at `path` by `bytes`.
    package static func write(_ bytes: [UInt8], to path: String) throws(SkyError) {
        try replace(path) { temporary throws(SkyError) in
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

    /// Lets `body` make a file with the given temporary name, and then puts that file at `path`.
    package static func replace(
        _ path: String, by body: (_ temporary: String) throws(SkyError) -> Void
    ) throws(SkyError) {
        let folder = try folder(of: path)
        // The name is short and random, so that a long target name still fits and two writers never share a temporary file.
        let temporary = folder + "/.skynode-" + String(UInt64.random(in: 0 ... .max), radix: 16) + ".partial"
        do throws(SkyError) {
            try body(temporary)
            try flush(temporary, for: path)
            guard rename(temporary, path) == 0 else { throw SkyError.notWritten(path, errno: errno) }
        } catch {
            unlink(temporary)
            throw error
        }
        // The name itself must survive a power cut as well. Some file systems cannot do this for a folder; the data are already
        // safe then, so a refusal is not an error.
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor >= 0 {
            fsync(descriptor)
            close(descriptor)
        }
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

    private static func flush(_ temporary: String, for path: String) throws(SkyError) {
        let descriptor = open(temporary, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .notWritten(path, errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .notWritten(path, errno: errno) }
    }
}

extension SkyError {
    /// The error for a file that could not be written, from the system's own number for the reason.
    package static func notWritten(_ path: String, errno code: Int32) -> SkyError {
        let reason: String
        switch code {
        case ENOENT: reason = "its folder does not exist"
        case EISDIR: reason = "it is a folder, not a file"
        case ENOTDIR: reason = "a part of its path is a file, not a folder"
        case EACCES, EPERM: reason = "this user may not write there"
        case ENOSPC, EDQUOT: reason = "the disk is full"
        default: reason = String(cString: strerror(code))
        }
        // A full or failing disk is not a fault of the input: the same request works once there is room.
        let kind: Kind = [ENOSPC, EDQUOT, EIO].contains(code) ? .failed : .badInput
        return SkyError(kind, "\(path): cannot be written: \(reason)")
    }
}
