import Glibc
import SkyCore

/// Where results go: a folder with several files an image, or one catalogue of all images.
enum OutputPlace: Sendable {
    case folder(String, [CatalogueFormat])
    case file(String, CatalogueFormat)

    var folder: String {
        switch self {
        case .folder(let folder, _): folder
        case .file(let path, _):
            path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        }
    }

    var formats: [CatalogueFormat] {
        switch self {
        case .folder(_, let formats): formats
        case .file(_, let format): [format]
        }
    }

    /// Whether only the one catalogue is wanted.
    var isFile: Bool { if case .file = self { true } else { false } }

    /// Where the catalogue of all images goes: a name that no image's own has.
    ///
    /// - Parameter stems: folder and name of each image's results.
    func merged(besides stems: Set<String>) -> [(path: String, format: CatalogueFormat)] {
        switch self {
        case .file(let path, let format): return [(path, format)]
        case .folder(let folder, let formats):
            var stem = folder + "/merged"
            while stems.contains(stem) { stem += "-all" }
            return formats.map { (stem + $0.ending, $0) }
        }
    }

    /// - Throws: `SkyError` where nothing can be written there.
    func prepare() throws(SkyError) {
        if case .file(let path, _) = self {
            var status = stat()
            if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                throw SkyError(.badInput, "\(path): is a folder; name a file, or end the folder's name with a slash")
            }
        }
        try OutputFolder.prepare(folder)
    }
}
