import Glibc

/// A folder that one process at a time keeps its journal in. The lock goes with the process, however that ends.
package final class JournalFolder: Sendable {
    package let path: String
    private let descriptor: Int32

    /// Folders tried beside the one named, where that one is in use and was not asked for.
    private static let places = 64

    /// - Throws: `JournalError` where it is in use or cannot be made.
    package init(_ path: String) throws(JournalError) {
        try JournalFolder.make(path)
        let lock = path + "/lock"
        let descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw JournalFolder.failure(lock) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isInUse = errno == EWOULDBLOCK
            let error = JournalFolder.failure(lock)
            close(descriptor)
            throw isInUse
                ? JournalError(.inUse, "\(path) is in use by another node; --data names another folder") : error
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The first folder that is free of `path`, `path-2`, `path-3` and so on, for nodes of one name on one machine.
    package static func firstFree(_ path: String) throws(JournalError) -> JournalFolder {
        for number in 1...places {
            do {
                return try JournalFolder(number == 1 ? path : "\(path)-\(number)")
            } catch {
                guard error.kind == .inUse, number < places else { throw error }
            }
        }
        throw JournalError(.inUse, "\(path) is in use by another node; --data names another folder")
    }

    /// With the folders above it; what is made is for this user alone.
    private static func make(_ path: String) throws(JournalError) {
        guard path.hasPrefix("/") else { throw JournalError(.inaccessible, "\(path): not an absolute path") }
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            throw failure(made)
        }
    }

    private static func failure(_ path: String) -> JournalError {
        JournalError(.inaccessible, "\(path): \(String(cString: strerror(errno)))")
    }
}
