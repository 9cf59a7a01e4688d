import Base
import Glibc

/// The folder into which a command writes.
public enum OutputFolder {
    /// Makes the folder with its parents if it is missing, and checks by a short-lived file that it can be written.
    ///
    /// Call this before any work is done, because no user wants to learn of a typing error after an hour of scanning. If it
    /// throws, it has removed the folders that it had made.
    ///
    /// - Throws: `SkyError` naming the folder and the reason.
    public static func prepare(_ path: String) throws(SkyError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw SkyError(.badInput, "an empty name cannot be the output folder")
        }
        var made: [String] = []
        do throws(SkyError) {
            try make(path, made: &made)
            try probe(path)
        } catch {
            for folder in made.reversed() { rmdir(folder) }
            throw error
        }
    }

    private static func make(_ path: String, made: inout [String]) throws(SkyError) {
        var folder = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            folder += folder.isEmpty || folder == "/" ? String(part) : "/" + part
            if mkdir(folder, 0o777) == 0 {
                made.append(folder)
            } else if errno != EEXIST && !isFolder(folder) {
                throw SkyError.notWritten(path, errno: errno)
            }
        }
        guard isFolder(path) else {
            throw SkyError(.badInput, "\(path): is a file; name a folder for the output")
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        // `stat` must not change the error number that `mkdir` left for the caller.
        let reason = errno
        defer { errno = reason }
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func probe(_ path: String) throws(SkyError) {
        let name = path + "/.skynode-" + String(UInt64.random(in: 0 ... .max), radix: 16) + ".probe"
        let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SkyError.notWritten(path, errno: errno) }
        close(descriptor)
        unlink(name)
    }
}
