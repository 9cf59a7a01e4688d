import Base
import Glibc

/// A folder that belongs to one daemon, for the socket and the standard error of its workers. Only the daemon's user can
/// enter it.
///
/// The daemon holds a lock as long as it lives, so that the next daemon can clear away the folder of one that was killed.
/// (A process id in the name alone would not do, because another container may share the folder and not the processes.)
struct WorkerFolder: Sendable {
    private let folder: String
    private let lock: Int32

    /// - Parameter wanted: where to make the folder, instead of in the folder for temporary files.
    /// - Throws: `SkyError` if no folder can be made.
    init(in wanted: String? = nil) throws(SkyError) {
        let base: String
        if let wanted { base = wanted } else { base = try TemporaryLocation().path }
        WorkerFolder.removeOrphans(in: base)
        for _ in 0..<WorkerFolder.tries {
            var template = Array((base + "/skynode-\(getpid())-XXXXXX").utf8CString)
            guard mkdtemp(&template) != nil else {
                throw SkyError(.failed, "cannot make a folder in \(base): \(String(cString: strerror(errno)))")
            }
            let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let lock = open(folder + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard lock >= 0 else {
                throw SkyError(.failed, "cannot make \(folder)/lock: \(String(cString: strerror(errno)))")
            }
            if WorkerFolder.takes(lock) {
                (self.folder, self.lock) = (folder, lock)
                return
            }
            close(lock)
        }
        throw SkyError(.failed, "cannot lock a folder in \(base)")
    }

    /// Locks the file, unless a daemon that starts at the same moment found it first: that daemon has locked it or removed it.
    static func takes(_ lock: Int32) -> Bool {
        var status = stat()
        return flock(lock, LOCK_EX | LOCK_NB) == 0 && fstat(lock, &status) == 0 && status.st_nlink > 0
    }

    /// How many folders are tried: other daemons may start at the same moment and take one.
    private static let tries = 16

    /// Whether the folder is there, and still the one that was made. Programs that clean up remove what has been there for days, and
    /// then any user may make a folder of that name.
    var isIntact: Bool {
        var (place, found, own) = (stat(), stat(), stat())
        return lstat(folder, &place) == 0 && place.st_mode & S_IFMT == S_IFDIR && place.st_uid == geteuid()
            && lstat(path("lock"), &found) == 0 && fstat(lock, &own) == 0
            && (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)
    }

    func path(_ name: String) -> String { folder + "/" + name }

    func remove() {
        WorkerFolder.remove(folder)
        close(lock)
    }

    /// Clears away the folders of daemons that are gone. They belong to this user, because other users' folders cannot be
    /// entered.
    private static func removeOrphans(in base: String) {
        for name in names(in: base) {
            guard isOwn(name) else { continue }
            var status = stat()
            let path = base + "/" + name
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
                continue
            }
            let lock = open(path + "/lock", O_RDWR | O_CLOEXEC)
            guard lock >= 0 else { continue }
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { remove(path) }
            close(lock)
        }
    }

    /// Whether a folder has a name as `init` gives one: that of a process and six characters of `mkdtemp`.
    private static func isOwn(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0] == "skynode" && Int32(parts[1]) != nil && parts[2].utf8.count == 6
    }

    /// Removes the folder, if nothing is in it but the lock, the socket, and what workers have written to their standard errors.
    private static func remove(_ folder: String) {
        OwnFolder.remove(folder) { $0 == "lock" || $0 == "socket" || $0.hasSuffix(".stderr") }
    }

    private static func names(in folder: String) -> [String] { (FolderEntry.all(in: folder) ?? []).map(\.text) }
}
