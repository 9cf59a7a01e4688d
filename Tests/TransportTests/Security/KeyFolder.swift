import Glibc

/// A folder of one test for key and certificate files; gone with its owner.
final class KeyFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/skynet-keys-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit {
        for name in ["key", "certificate", "roots", "pipe", "link"] { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// Writes a file and gives its path.
    @discardableResult
    ///
    /// - Parameter owner: somebody else, which only root can make it.
    func put(_ text: String, in name: String, mode: mode_t = 0o600, owner: uid_t? = nil) -> String {
        let file = path + "/" + name
        unlink(file)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
        if let owner { fchown(descriptor, owner, owner) }
        fchmod(descriptor, mode)
        return file
    }
}
