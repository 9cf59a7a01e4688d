import Glibc

/// A folder in which one process at a time keeps its journal. The lock ends with the process, however the process ends.
package final class JournalFolder: Sendable {
    package let path: String
    private let descriptor: Int32

    /// How many folders are tried: the one that is named, and those beside it. The others are tried if the first is in use
    /// and was not explicitly asked for.
    private static let places = 64

    /// - Throws: `JournalError` if the folder is in use or cannot be made, or if other users could have put something into it.
    package convenience init(_ path: String) throws(JournalError) {
        try JournalFolder.make(path)
        try self.init(existing: path, O_CREAT)
    }

    /// - Parameter flags: how the lock file is opened besides.
    private init(existing path: String, _ flags: Int32) throws(JournalError) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw JournalFolder.failure(path) }
        defer { close(folder) }
        try JournalFolder.check(folder, path)
        let lock = path + "/lock"
        // A lock file that is a link is not followed, because it is not a file of this folder.
        let descriptor = openat(folder, "lock", O_RDWR | flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
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

    /// - Parameter folder: its descriptor.
    private static func check(_ folder: Int32, _ path: String) throws(JournalError) {
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw failure(path) }
        if let objection = objection(to: status, user: geteuid(), group: getegid()) {
            throw JournalError(.inaccessible, "\(path): \(objection), or name another folder by --data")
        }
        // What happens to it later is another matter: a node that cannot keep copies may have to give its own jobs to others.
        if let fault = CopiesFolder(in: path).fault {
            throw JournalError(.inaccessible, "\(fault); move it away, or name another folder by --data")
        }
    }

    /// Looks at a folder as a start does, and makes nothing.
    ///
    /// - Returns: whether it is there, and its lock; no lock where a start would make it.
    /// - Throws: as `init`; also where a start could not write there.
    static func existing(_ path: String) throws(JournalError) -> (isThere: Bool, lock: JournalFolder?) {
        guard path.hasPrefix("/") else { throw JournalError(.inaccessible, "\(path): not an absolute path") }
        // A start makes what is missing of the path.
        var (there, status) = (path, stat())
        while lstat(there, &status) != 0, errno == ENOENT, there != "/" {
            let slash = there.lastIndex(of: "/") ?? there.startIndex
            there = slash == there.startIndex ? "/" : String(there[..<slash])
        }
        let folder = open(there, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure(there) }
        defer { close(folder) }
        guard faccessat(AT_FDCWD, there, W_OK | X_OK, AT_EACCESS) == 0 else { throw failure(there) }
        guard there == path else { return (false, nil) }
        try check(folder, path)
        guard lstat(path + "/lock", &status) == 0 else { return (true, nil) }
        return (true, try JournalFolder(existing: path, 0))
    }

    deinit {
        // The lock is released explicitly, not by closing the last descriptor: a child process holds copies of all
        // descriptors from its fork until it runs its own program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Makes the names of the folder's files durable.
    func sync() {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// The first free folder among `path`, `path-2`, `path-3` and so on, for nodes of one name on one machine.
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

    /// Why what is at a path is no folder for a journal, whoever uses it; `nil` where it is one, and where there is nothing.
    static func fault(of path: String) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFDIR, access(path, R_OK | W_OK | X_OK) == 0 else {
            return "\(path) is no folder that this node can use"
        }
        if let objection = objection(to: status, user: geteuid(), group: getegid()) { return "\(path): \(objection)" }
        guard lstat(path + "/lock", &status) == 0 else { return nil }
        let isUsable = status.st_mode & S_IFMT == S_IFREG && access(path + "/lock", R_OK | W_OK) == 0
        return isUsable ? nil : "\(path)/lock is no file that this node can use"
    }

    /// Why jobs should not be kept in a folder, and what to do about it; `nil` if nothing is wrong. A user who can write to
    /// the folder can put other jobs into the journal, or use a link to make this node write to another of its files.
    static func objection(to folder: stat, user: uid_t, group: gid_t) -> String? {
        // Root can do everything in any case, and the volumes of containers belong to root.
        if folder.st_uid != user, folder.st_uid != 0 {
            return "it belongs to user \(folder.st_uid), and this node runs as \(user); chown it"
        }
        if folder.st_mode & S_IWOTH != 0 { return "every user can write to it; chmod o-w it" }
        // The group may be the user's own. Many systems give one to every user, and Kubernetes gives one to a volume (fsGroup).
        if folder.st_mode & S_IWGRP != 0, folder.st_gid != group {
            return "the users of group \(folder.st_gid) can write to it; chmod g-w it"
        }
        return nil
    }

    /// Makes the folder, and the folders above it. Folders that are made here are for this user alone.
    private static func make(_ path: String) throws(JournalError) {
        guard path.hasPrefix("/") else { throw JournalError(.inaccessible, "\(path): not an absolute path") }
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            throw JournalError(
                .inaccessible, "cannot make \(made): \(String(cString: strerror(errno))); --data names another folder")
        }
    }

    private static func failure(_ path: String) -> JournalError {
        JournalError(.inaccessible, "\(path): \(String(cString: strerror(errno)))")
    }
}
