import Glibc

/// A folder of one daemon's own for its workers' socket and standard error, which only its user can enter.
///
/// Its name holds the daemon's process id, so that the next daemon can clear away what one that was killed left.
struct WorkerFolder: Sendable {
    private let folder: String

    /// - Throws: `SkyError` where no folder can be made.
    init() throws(SkyError) {
        // The path of a Unix socket has 107 bytes at most (unix(7)), and ours come on top of the base.
        let preferred = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let base = preferred.utf8.count <= 70 ? preferred : "/tmp"
        WorkerFolder.removeOrphans(in: base)
        var template = Array((base + "/skynode-\(getpid())-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SkyError(.failed, "cannot make a folder in \(base): \(String(cString: strerror(errno)))")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func path(_ name: String) -> String { folder + "/" + name }

    func remove() {
        WorkerFolder.remove(folder)
    }

    /// Clears away the folders of daemons that are gone. Only this user's: nobody else's can be entered.
    private static func removeOrphans(in base: String) {
        for name in names(in: base) {
            let parts = name.split(separator: "-")
            guard parts.count == 3, parts[0] == "skynode", let pid = pid_t(parts[1]), pid > 0,
                kill(pid, 0) == -1, errno == ESRCH
            else { continue }
            var status = stat()
            let path = base + "/" + name
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
                continue
            }
            remove(path)
        }
    }

    /// Removes the folder and the files in it; there are no folders inside.
    private static func remove(_ folder: String) {
        for name in names(in: folder) { unlink(folder + "/" + name) }
        rmdir(folder)
    }

    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
