import Sky

/// The place to which results go: a folder with several files for each image, or one catalogue of all images.
enum OutputPlace: Sendable {
    case folder(String, [CatalogueFormat])
    case file(String, CatalogueFormat)
    case standardOutput(CatalogueFormat)

    var folder: String {
        switch self {
        case .folder(let folder, _): folder
        case .file(let path, _):
            path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        case .standardOutput: "."
        }
    }

    var formats: [CatalogueFormat] {
        switch self {
        case .folder(_, let formats): formats
        case .file(_, let format), .standardOutput(let format): [format]
        }
    }

    /// Whether only one catalogue is requested.
    var isFile: Bool { if case .folder = self { false } else { true } }

    var isStandardOutput: Bool { if case .standardOutput = self { true } else { false } }

    /// The paths of the catalogue of all images. No catalogue of a single image has the same path.
    ///
    /// - Parameters:
    ///   - stems: folder and name of each image's results.
    ///   - isPartial: whether the catalogue lacks images. Its name says so then.
    func merged(besides stems: Set<String>, isPartial: Bool = false) -> [(path: String, format: CatalogueFormat)] {
        switch self {
        case .standardOutput: return []
        case .file(let path, let format):
            guard isPartial else { return [(path, format)] }
            let ending = path.lastIndex(of: ".") ?? path.endIndex
            return [(path[..<ending] + ".partial" + path[ending...], format)]
        case .folder(let folder, let formats):
            var stem = folder + "/merged"
            while stems.contains(stem) { stem += "-all" }
            return formats.map { (stem + (isPartial ? ".partial" : "") + $0.ending, $0) }
        }
    }

    /// The part of a path behind its folder.
    static func name(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}
