import Base
import Glibc

/// Closes the databases of a data folder to other users: secrets are in them, from which follows who speaks for a coordinator.
///
/// A file is never opened for this that SQLite may have open: its locks would be gone when that is closed (fcntl_locking(2)).
enum DatabaseFile {
    /// What the names of a database's files have at their ends: the file itself, and those that SQLite keeps beside it.
    static let suffixes = ["", "-wal", "-shm"]

    /// Makes a database's file, if there is none, so that its owner alone can read it, and closes the one that is there. SQLite gives
    /// the files beside it the same mode, whatever the umask is. Where this fails, SQLite says why.
    static func close(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            // The umask may have taken the owner's rights, too.
            fchmod(descriptor, 0o600)
            Glibc.close(descriptor)
        }
        for suffix in DatabaseFile.suffixes { tighten(path + suffix) }
    }

    /// Looks whether a file is still the one that was opened. A file that is deleted while it is open can still be written to, and all of
    /// it is gone at the end.
    ///
    /// - Throws: `JournalError` of the kind `gone`, where it was deleted or replaced.
    static func check(_ path: String, is file: FileInode) throws(JournalError) {
        guard FileInode(path) != file else { return }
        throw JournalError(
            .gone, "\(path) was deleted or replaced while it is in use; start the node again, or put the file back")
    }

    /// Closes the files of a folder whose names begin so, as those that earlier versions have set aside.
    static func closeAll(in folder: String, named start: String) {
        for entry in FolderEntry.all(in: folder) ?? []
        where entry.text.hasPrefix(start) && entry.text.contains(".sqlite") {
            tighten(folder + "/" + entry.text)
        }
    }

    /// Takes the rights of all others from a file, as far as this user may.
    static func tighten(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else { return }
        chmod(path, status.st_mode & 0o700)
    }
}
