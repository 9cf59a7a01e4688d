import Base
import Glibc

/// An entry of a folder, and what it was when the folder was listed.
struct ListedEntry: Hashable, Sendable {
    enum Kind { case file, folder, other }
    var name: String
    var kind: Kind

    /// The entries of a folder in the order of their names; `nil` if it cannot be read.
    static func all(in folder: String) -> [ListedEntry]? {
        FolderEntry.all(in: folder)?.map { ListedEntry(name: $0.text, kind: kind($0.type, folder + "/" + $0.text)) }
            .sorted { $0.name < $1.name }
    }

    private static func kind(_ type: UInt8, _ path: String) -> Kind {
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
