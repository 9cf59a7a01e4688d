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

    /// - Parameter stems: folder and name of each image's results.
    /// - Throws: `SkyError` where nothing can be written there, or an image would be overwritten.
    func prepare(stems: Set<String> = []) throws(SkyError) {
        if case .file(let path, _) = self {
            var status = stat()
            if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                throw SkyError(.badInput, "\(path): is a folder; name a file, or end the folder's name with a slash")
            }
        }
        let own = isFile ? [] : stems.sorted().flatMap { stem in formats.map { stem + $0.ending } }
        for path in own + merged(besides: stems).map(\.path) where OutputPlace.isForeign(path) {
            throw SkyError(.badInput, "\(path): is a file, and no catalogue of this program; it is not overwritten")
        }
        try OutputFolder.prepare(folder)
    }

    /// Whether a FITS file is there that holds something else than a catalogue: an image, and perhaps the one to be scanned.
    static func isForeign(_ path: String) -> Bool { kind(of: path) == .other }

    /// Whether a FITS file is there that holds a catalogue of this program.
    static func isCatalogue(_ path: String) -> Bool { kind(of: path) == .catalogue }

    private enum Kind {
        case catalogue, other, noFITS
    }

    private static func kind(of path: String) -> Kind {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .noFITS }
        defer { close(descriptor) }
        // A catalogue begins with an empty primary header of a block and the header of its table, some blocks long.
        var bytes = [UInt8](repeating: 0, count: 20 * 2880)
        let count = max(0, read(descriptor, &bytes, bytes.count))
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        let isFITS = text.hasPrefix("SIMPLE  =") || bytes.starts(with: [0x1F, 0x8B])
        guard isFITS else { return .noFITS }
        return ["CATALOG ", "LDAC_IMHEAD"].contains { text.contains("EXTNAME = '" + $0) } ? .catalogue : .other
    }
}
