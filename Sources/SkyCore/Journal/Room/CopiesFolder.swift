import Base
import Foundation

/// The folder in a node's data folder that has a folder for each copy. Nothing in it is touched that has not a name which only this
/// program gives, and no folder is removed that holds anything else than the program's files.
struct CopiesFolder: Sendable {
    let path: String

    /// - Parameter data: the node's data folder.
    init(in data: String) { path = data + "/copies" }

    /// - Parameter copy: a copy's folder in this one.
    init(above copy: String) { path = (copy as NSString).deletingLastPathComponent }

    /// Why no copies can be kept in what is here; `nil` where they can, and where there is nothing yet. It may be a link to another disk.
    var fault: String? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            faccessat(AT_FDCWD, path, R_OK | W_OK | X_OK, AT_EACCESS) == 0
        else { return "\(path) is no folder that this node can use" }
        return JournalFolder.objection(to: status, user: geteuid(), group: getegid()).map { "\(path): \($0)" }
    }

    /// The folder of a copy.
    func place(of coordinator: CoordinatorID) -> String { "\(path)/\(coordinator)" }

    /// The coordinators that have folders here. A name has exactly the digits that this program writes: `2024` is somebody's.
    var coordinators: [CoordinatorID] {
        (FolderEntry.all(in: path) ?? []).compactMap { entry in
            guard let number = UInt64(entry.text, radix: 16) else { return nil }
            let coordinator = CoordinatorID(rawValue: number)
            return "\(coordinator)" == entry.text ? coordinator : nil
        }
    }

    /// Whether there is a copy in a coordinator's folder.
    func isBegun(_ coordinator: CoordinatorID) -> Bool {
        var status = stat()
        return lstat(place(of: coordinator) + "/" + CopiesFolder.journalName, &status) == 0
    }

    /// Removes a copy.
    ///
    /// - Returns: whether its folder is gone; it stays where anything in it is not this program's.
    func remove(_ coordinator: CoordinatorID) -> Bool {
        OwnFolder.remove(place(of: coordinator), isOwn: CopiesFolder.ownNames.contains)
    }

    // MARK: - New ones

    /// The place of a journal whose coordinator is not known before it is made.
    func placeOfNew() -> String { path + "/" + CopiesFolder.new + HexText.of(UInt64.random(in: 0 ... .max)) }

    /// Removes journals that were begun and not finished before this start, and closes those that are kept to other users.
    func tidy() {
        DatabaseFile.closeAll(in: path, named: "damaged")
        for name in names(CopiesFolder.new) {
            OwnFolder.remove(path + "/" + name, isOwn: CopiesFolder.ownNames.contains)
        }
    }

    // MARK: - Damaged ones

    /// Keeps what is in the place of a copy's folder, instead of the one that was kept before.
    func setAside(_ copy: String) throws(JournalError) {
        let kept = CopiesFolder.damaged + HexText.of(UInt64.random(in: 0 ... .max))
        guard rename(copy, path + "/" + kept) == 0 else { throw CopiesFolder.failure(copy) }
        for name in names(CopiesFolder.damaged) where name != kept {
            OwnFolder.remove(path + "/" + name, isOwn: CopiesFolder.ownNames.contains)
        }
    }

    /// Keeps the files of a damaged copy beside the folders, instead of those that were kept before.
    func setAside(filesIn copy: String) throws(JournalError) {
        let kept = CopiesFolder.damaged + HexText.of(UInt64.random(in: 0 ... .max))
        for suffix in DatabaseFile.suffixes {
            let file = copy + "/" + CopiesFolder.journalName + suffix
            guard rename(file, path + "/" + kept + ".sqlite" + suffix) != 0, errno != ENOENT else { continue }
            throw CopiesFolder.failure(file)
        }
        for suffix in DatabaseFile.suffixes {
            for name in names(CopiesFolder.damaged, ending: ".sqlite" + suffix) where !name.hasPrefix(kept) {
                var status = stat()
                guard lstat(path + "/" + name, &status) == 0 else { continue }
                // A folder may have been in the place of the file. An empty one holds nothing of anybody.
                if status.st_mode & S_IFMT == S_IFREG { unlink(path + "/" + name) } else { rmdir(path + "/" + name) }
            }
        }
    }

    private static func failure(_ path: String) -> JournalError {
        JournalError(.inaccessible, "\(path): \(String(cString: strerror(errno)))")
    }

    // MARK: - Names

    private static let (new, damaged) = ("new-", "damaged-")
    /// The journal in a copy's folder, and a new one that is not whole yet.
    static let (journalName, nextName) = ("journal.sqlite", "next.sqlite")

    /// The names of sixteen digits after their start, and before their ending.
    private func names(_ start: String, ending: String = "") -> [String] {
        (FolderEntry.all(in: path) ?? []).map(\.text).filter { name in
            guard name.hasPrefix(start), name.hasSuffix(ending) else { return false }
            return HexText.bytes(String(name.dropFirst(start.count).dropLast(ending.count)))?.count == 8
        }
    }

    /// The files in a copy's folder. A new journal has room of its own that is kept for deletions, and SQLite the last one while it
    /// makes a file.
    private static let ownNames: Set<String> = Set(
        ["lock", JournalBallast.name]
            + [CopiesFolder.journalName, CopiesFolder.nextName].flatMap { name in
                (DatabaseFile.suffixes + ["-journal"]).map { name + $0 }
            })
}
