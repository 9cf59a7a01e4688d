import Base
import Glibc
import Sky
import SkyCore
import Transport

/// The images that a command line names: files, all FITS files of folders, and patterns that no shell has expanded.
struct ImageList {
    struct Image {
        /// The name as the user wrote it.
        var name: String
        /// The path without symbolic links; the name itself where it leads nowhere.
        var path: String
    }

    /// The images in the order of the arguments. Those of a folder or a pattern are in the order of their names. A file that is
    /// named twice is there only once.
    private(set) var images: [Image] = []
    /// Errors for files that exist, but whose names cannot be sent to a node.
    private(set) var refusals: [SkyError] = []
    private var seen: Set<String> = []
    /// The paths of folders without symbolic links. They are kept so that not every part of a path is examined for every file in
    /// the folder.
    private var folders: [String: String] = [:]

    private static let endings = [".fits", ".fit", ".fts"].flatMap { [$0, $0 + ".gz", $0 + ".fz"] }

    /// - Throws: `CommandFailure` for a folder or a pattern without images. Faults of a file are found later.
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
        // No path contains a zero, so this cannot be mistaken for a path.
        guard seen.insert("\u{0}" + escaped).inserted else { return }
        refusals.append(
            SkyError(
                .badInput,
                "\(PrintableText.of(escaped)): its name is not UTF-8, and nodes are told of files by names that are; "
                    + "rename it, for example with convmv"))
    }

    /// The path as realpath(3) returns it.
    private mutating func resolved(_ path: String) -> String {
        var status = stat()
        // A symbolic link may lead to any other folder.
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return ImagePath.resolved(path) ?? path
        }
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        if folders[folder] == nil { folders[folder] = ImagePath.resolved(folder) }
        guard let whole = folders[folder] else { return ImagePath.resolved(path) ?? path }
        return (whole == "/" ? "" : whole) + "/" + path[(slash.map { path.index(after: $0) } ?? path.startIndex)...]
    }

    /// Adds the files with the ending of a FITS file, except catalogues that this program wrote.
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
