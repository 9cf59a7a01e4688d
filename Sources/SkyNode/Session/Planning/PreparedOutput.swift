import Base
import Glibc
import Sky

/// The folder to which results go. It is checked and made before any work is done.
struct PreparedOutput: Sendable {
    private let folder: String
    private let hasExisted: Bool

    /// - Parameters:
    ///   - files: the files that are written for each image.
    ///   - stems: folder and name of each image's results.
    ///   - merged: the catalogues of all images.
    ///   - inputs: the resolved paths of files that the command or its job reads. None is replaced, whoever has made it.
    ///   - overwrites: whether files that the program has not made are replaced.
    /// - Throws: `SkyError` where nothing can be written there, where a name would be too long or that of two results, or where a
    ///   file that the program has not made would be overwritten.
    init(
        _ place: OutputPlace, files: [ResultFile] = [], stems: Set<String> = [],
        merged: [(path: String, format: CatalogueFormat)] = [],
        inputs: Set<String> = [], overwrites: Bool = false
    ) throws(SkyError) {
        folder = place.folder
        hasExisted = access(folder, F_OK) == 0
        if case .file(let path, _) = place, PreparedOutput.isFolder(path) {
            throw SkyError(.badInput, "\(path): is a folder; name a file, or end the folder's name with a slash")
        }
        guard !place.isStandardOutput else { return }
        let lengths = NameLengths(folder)
        // Only those names are looked for that exist: a night has a hundred thousand files.
        let names = Set(FolderNames.of(folder).map(\.text))
        var results: Set<String> = []
        func check(_ path: String, _ kind: OutputKind) throws(SkyError) {
            try lengths.check(path, kind)
            guard results.insert(OutputPlace.name(path)).inserted else {
                throw SkyError(
                    .badInput,
                    "\(path): two results would have this name; rename an image, or scan them with an --output each")
            }
            guard names.contains(OutputPlace.name(path)) else { return }
            guard !inputs.contains(ImagePath.resolved(path) ?? path) else {
                throw SkyError(.badInput, "\(path): is read by this scan and is not overwritten")
            }
            try kind.check(path, overwrites: overwrites)
        }
        for (path, format) in merged { try check(path, ResultFile.catalogue(format).kind) }
        for stem in stems.sorted() { for file in files { try check(stem + file.ending, file.kind) } }
        try OutputFolder.prepare(folder)
    }

    /// Removes, after a failure, a folder that was made for results and got none.
    func removeFolderIfUnused() {
        if !hasExisted { rmdir(folder) }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
