import Glibc

/// The names in a folder.
enum FolderEntries {
    struct Entry: Hashable, Sendable {
        enum Kind { case file, folder, other }
        var name: String
        var kind: Kind
    }

    /// The entries of a folder in the order of their names; `nil` if it cannot be read.
    static func of(_ path: String) -> [Entry]? {
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        var entries: [Entry] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name != ".", name != ".." else { continue }
            entries.append(Entry(name: name, kind: kind(entry.pointee.d_type, path + "/" + name)))
        }
        return entries.sorted { $0.name < $1.name }
    }

    private static func kind(_ type: UInt8, _ path: String) -> Entry.Kind {
        switch Int(type) {
        case 4: return .folder
        case 8: return .file
        case 0:
            // Some file systems do not tell.
            var status = stat()
            guard lstat(path, &status) == 0 else { return .other }
            let format = status.st_mode & S_IFMT
            return format == S_IFDIR ? .folder : format == S_IFREG ? .file : .other
        default: return .other
        }
    }
}
