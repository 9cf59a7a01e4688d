import Glibc

/// A folder that one process at a time keeps its journal in. The lock goes with the process, however that ends.
package final class JournalFolder: Sendable {
    package let path: String
    private let descriptor: Int32

    /// Folders tried beside the one named, where that one is in use and was not asked for.
    private static let places = 64

    /// - Throws: `JournalError` where it is in use or cannot be made, or where others could have put something into it.
    package init(_ path: String) throws(JournalError) {
        try JournalFolder.make(path)
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw JournalFolder.failure(path) }
        defer { close(folder) }
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw JournalFolder.failure(path) }
        if let objection = JournalFolder.objection(to: status, user: geteuid(), group: getegid()) {
            throw JournalError(.inaccessible, "\(path): \(objection), or name another folder by --data")
        }
        let lock = path + "/lock"
        // What is not a file of this folder is not followed.
        let descriptor = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
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

    deinit {
        // Said, and not left to the last descriptor: a process that is being started has all of them until it is a program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

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

    /// Why a folder is not one to keep jobs in, and what to do; `nil` where nothing is wrong. Who can write to it can put other
    /// jobs into the journal, or have this node write to a file of its own through a link.
    static func objection(to folder: stat, user: uid_t, group: gid_t) -> String? {
        // Root can do everything in any case, and volumes of containers are root's.
        if folder.st_uid != user, folder.st_uid != 0 {
            return "it belongs to user \(folder.st_uid), and this node runs as \(user); chown it"
        }
        if folder.st_mode & S_IWOTH != 0 { return "every user can write to it; chmod o-w it" }
        // A group of one's own, as many systems give to every user, and Kubernetes to a volume (fsGroup).
        if folder.st_mode & S_IWGRP != 0, folder.st_gid != group {
            return "the users of group \(folder.st_gid) can write to it; chmod g-w it"
        }
        return nil
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
