import Base
import Glibc
import Sky
import SkyCore
import Transport

/// The images that a command line means: files, all FITS files of folders, and patterns that no shell has expanded.
struct ImageList {
    struct Image {
        /// As the user wrote it.
        var name: String
        /// Without symbolic links; the name itself where it leads nowhere.
        var path: String
    }

    /// In the order given; a folder's and a pattern's in the order of names, and a file that is meant twice only once.
    private(set) var images: [Image] = []
    /// Files that are there, but that nobody can be told of.
    private(set) var refusals: [SkyError] = []
    private var seen: Set<String> = []
    /// Folders without symbolic links, so that not every part of a path is looked at for every file in it.
    private var folders: [String: String] = [:]

    private static let endings = [".fits", ".fit", ".fts"].flatMap { [$0, $0 + ".gz", $0 + ".fz"] }

    /// - Throws: `CommandFailure` for a folder or a pattern without images. What is wrong with a file is found later.
    init(_ arguments: [String]) throws {
        for argument in arguments { try add(argument) }
    }

    private mutating func add(_ argument: String) throws {
        let unusable = ArgumentBytes.escaped(argument)
        guard unusable.isEmpty else { return unusable.forEach { refuse($0) } }
        var status = stat()
        if stat(argument, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else { return append(argument) }
            guard addImages(in: argument) else {
                throw CommandFailure(.usage, "\(PrintableText.of(argument)): a folder without FITS images")
            }
            return
        }
        guard argument.contains(where: { "*?[".contains($0) }) else { return append(argument) }
        guard addMatches(argument) else {
            throw CommandFailure(.usage, "\(PrintableText.of(argument)): no file has such a name")
        }
    }

    private mutating func append(_ name: String) {
        let path = resolved(name)
        if seen.insert(path).inserted { images.append(Image(name: name, path: path)) }
    }

    private mutating func refuse(_ escaped: String) {
        // No path holds a zero.
        guard seen.insert("\u{0}" + escaped).inserted else { return }
        refusals.append(
            SkyError(
                .badInput,
                "\(PrintableText.of(escaped)): its name is not UTF-8, and nodes are told of files by names that are; "
                    + "rename it, for example with convmv"))
    }

    /// As realpath(3) has it.
    private mutating func resolved(_ path: String) -> String {
        var status = stat()
        // A link leads elsewhere, by whatever way.
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return ImagePath.resolved(path) ?? path
        }
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        if folders[folder] == nil { folders[folder] = ImagePath.resolved(folder) }
        guard let whole = folders[folder] else { return ImagePath.resolved(path) ?? path }
        return (whole == "/" ? "" : whole) + "/" + path[(slash.map { path.index(after: $0) } ?? path.startIndex)...]
    }

    /// Files with a FITS file's ending, without the catalogues that this program writes.
    ///
    /// - Returns: whether there are any.
    private mutating func addImages(in folder: String) -> Bool {
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        var isAny = false
        for name in FolderNames.of(folder).sorted(by: { $0.text < $1.text }) {
            let lower = name.text.lowercased()
            guard !name.text.hasPrefix("."), ImageList.endings.contains(where: lower.hasSuffix) else { continue }
            if !name.isText {
                refuse(prefix + name.escaped)
            } else if CatalogueSniff.isCatalogue(prefix + name.text) {
                continue
            } else {
                append(prefix + name.text)
            }
            isAny = true
        }
        return isAny
    }

    private mutating func addMatches(_ pattern: String) -> Bool {
        var result = glob_t()
        defer { globfree(&result) }
        guard glob(pattern, 0, nil, &result) == 0 else { return false }
        var isAny = false
        for index in 0..<Int(result.gl_pathc) {
            guard let pointer = result.gl_pathv[index] else { continue }
            let name = FolderNames.Name(pointer)
            if !name.isText {
                refuse(name.escaped)
            } else if CatalogueSniff.isCatalogue(name.text) {
                continue
            } else {
                append(name.text)
            }
            isAny = true
        }
        return isAny
    }
}
