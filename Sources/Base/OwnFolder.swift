#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Removes a folder that this program has made, and nothing of anybody else.
package enum OwnFolder {
    /// Removes the folder with its files, if all of them are this program's. Otherwise all of it stays: there are no folders inside
    /// one that the program has made, and no links.
    ///
    /// - Parameter isOwn: whether the program gives a file this name.
    /// - Returns: whether the folder is not there any more.
    @discardableResult
    package static func remove(_ folder: String, isOwn: (_ name: String) -> Bool) -> Bool {
        var status = stat()
        guard lstat(folder, &status) == 0 else { return errno == ENOENT }
        guard status.st_mode & S_IFMT == S_IFDIR, let entries = FolderEntry.all(in: folder) else { return false }
        let paths = entries.map { folder + "/" + $0.text }
        for (entry, path) in zip(entries, paths) {
            guard isOwn(entry.text), lstat(path, &status) == 0, [S_IFREG, S_IFSOCK].contains(status.st_mode & S_IFMT)
            else { return false }
        }
        for path in paths { unlink(path) }
        return rmdir(folder) == 0
    }
}
