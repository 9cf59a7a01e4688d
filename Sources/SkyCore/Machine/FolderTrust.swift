import Glibc

/// Whether somebody else can put another folder in the place of one, and so read and change what a program keeps in it. The rule is
/// that of sshd for homes (`StrictModes` of sshd_config(5)).
package struct FolderTrust {
    /// What lies at a path.
    struct Entry {
        /// Where it leads, if it is a symbolic link.
        var target: String?
        var isFolder = true
        var owner: uid_t
        var group: gid_t = 0
        var mode: mode_t = 0o755
    }

    private let user: uid_t
    /// Whether a group is that of this user alone, as many systems make one for each user.
    private let isOwnGroup: (gid_t) -> Bool
    private let look: (String) -> Entry?

    /// - Parameter look: what lies at a path, without following links; `nil` for nothing.
    init(user: uid_t, isOwnGroup: @escaping (gid_t) -> Bool, look: @escaping (String) -> Entry?) {
        (self.user, self.isOwnGroup, self.look) = (user, isOwnGroup, look)
    }

    /// Who else can put another folder there, in words; `nil` for nobody but root. What does not exist yet is left out: it will
    /// belong to whoever makes it.
    package static func objection(to path: String) -> String? {
        FolderTrust(user: geteuid(), isOwnGroup: isOwnGroup, look: look).objection(to: path)
    }

    /// How many links the kernel follows in one path (path_resolution(7)).
    private static let linkLimit = 40

    func objection(to path: String) -> String? {
        guard let root = look("/") else { return nil }
        // Whoever owns the root of all folders can replace any. It is not user 0 in a user namespace.
        let trusted: Set<uid_t> = [0, user, root.owner]
        if let objection = objection(to: root, at: "/", trusted) { return objection }
        var folders: [String] = []
        var names = FolderTrust.names(path)
        var links = 0
        while let name = names.popLast() {
            if name == ".." {
                _ = folders.popLast()
                continue
            }
            let place = "/" + (folders + [name]).joined(separator: "/")
            guard let entry = look(place) else { return nil }
            if let objection = objection(to: entry, at: place, trusted) { return objection }
            if let target = entry.target {
                links += 1
                guard links <= FolderTrust.linkLimit else { return "\(place) is one of too many links" }
                if target.hasPrefix("/") { folders = [] }
                names += FolderTrust.names(target)
            } else if entry.isFolder {
                folders.append(name)
            } else {
                return nil
            }
        }
        return nil
    }

    /// The names of a path, the last one first.
    private static func names(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.reversed().map(String.init)
    }

    private func objection(to entry: Entry, at place: String, _ trusted: Set<uid_t>) -> String? {
        guard trusted.contains(entry.owner) else { return "\(place) belongs to user \(entry.owner)" }
        // A link has no rights of its own. In a folder with the sticky bit, only the owner of an entry can replace it.
        guard entry.target == nil, entry.isFolder, entry.mode & S_ISVTX == 0 else { return nil }
        if entry.mode & S_IWOTH != 0 { return "every user can write to \(place)" }
        if entry.mode & S_IWGRP != 0, !isOwnGroup(entry.group) {
            return "the users of group \(entry.group) can write to \(place)"
        }
        return nil
    }

    private static func look(_ path: String) -> Entry? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        let target = kind == S_IFLNK ? (readLink(path) ?? "") : nil
        return Entry(
            target: target, isFolder: kind == S_IFDIR, owner: status.st_uid, group: status.st_gid, mode: status.st_mode)
    }

    private static func readLink(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    private static func isOwnGroup(_ group: gid_t) -> Bool {
        guard group == getegid(), let account = Account.ofThisProcess, let members = Account.members(of: group) else {
            return false
        }
        return members.name == account.name && members.others.allSatisfy { $0 == account.name }
    }
}
