import Base
import Glibc
import Sky

/// The folder to which results go. It is checked and made before any work is done.
struct PreparedOutput: Sendable {
    private let folder: String
    private let hasExisted: Bool

    /// - Parameter stems: folder and name of each image's results.
    /// - Throws: `SkyError` where nothing can be written there, or an image would be overwritten.
    init(_ place: OutputPlace, stems: Set<String> = []) throws(SkyError) {
        folder = place.folder
        hasExisted = access(folder, F_OK) == 0
        if case .file(let path, _) = place, PreparedOutput.isFolder(path) {
            throw SkyError(.badInput, "\(path): is a folder; name a file, or end the folder's name with a slash")
        }
        guard !place.isStandardOutput else { return }
        let names = Set(FolderNames.of(folder).map(\.text))
        for path in place.catalogues(of: stems, among: names) where CatalogueSniff.isForeign(path) {
            throw SkyError(.badInput, "\(path): is a file, and no catalogue of this program; it is not overwritten")
        }
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
