import Base
import Glibc
import Sky

/// How long the names of files in a folder may be. Names that are too long are to be found before hours of work.
struct NameLengths {
    private let name: Int

    /// - Parameter folder: a folder that need not exist yet.
    init(_ folder: String) {
        var (ancestor, longest) = (folder, -1)
        while true {
            longest = pathconf(ancestor.isEmpty ? "." : ancestor, Int32(_PC_NAME_MAX))
            guard longest < 0, let slash = ancestor.lastIndex(of: "/"), ancestor != "/" else { break }
            ancestor = slash == ancestor.startIndex ? "/" : String(ancestor[..<slash])
        }
        name = longest > 0 ? longest : Int(NAME_MAX)
    }

    /// - Throws: `.badInput` where the file cannot have this name.
    func check(_ path: String, _ kind: OutputKind) throws(SkyError) {
        let bytes = OutputPlace.name(path).utf8.count
        guard bytes <= name else {
            throw SkyError(
                .badInput,
                "\(path): cannot be written: its name has \(bytes) bytes, and there may be \(name) in this folder")
        }
        // It is written under a temporary name first.
        let whole = max(path.utf8.count, path.utf8.count - bytes + StagedFiles.temporaryLength)
        guard whole <= kind.pathLimit else {
            throw SkyError(
                .badInput,
                "\(path): cannot be written: its path has \(whole) bytes while it is made, and there may be "
                    + "\(kind.pathLimit); name a shorter path")
        }
    }
}
