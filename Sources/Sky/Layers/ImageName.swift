/// Names that are made of an image's.
package enum ImageName {
    /// The file's name without folder and without the endings that FITS files have.
    package static func stem(_ path: String) -> String {
        var name = path.split(separator: "/").last.map(String.init) ?? "image"
        for ending in [".gz", ".fz"] where name.count > ending.count && name.lowercased().hasSuffix(ending) {
            name.removeLast(ending.count)
        }
        for ending in [".fits", ".fit", ".fts"] where name.count > ending.count && name.lowercased().hasSuffix(ending) {
            name.removeLast(ending.count)
        }
        return name
    }

    /// The path of another file of an image: `%` stands for the image's path without its endings.
    package static func companion(_ text: String, of image: String) -> String {
        let folder = image.lastIndex(of: "/").map { String(image[...$0]) } ?? ""
        return text.replacing("%", with: folder + stem(image))
    }
}

extension ImageReference {
    /// The name of the results of a scan that may be one of several of its file: the planes and the colours of a file are scanned on their
    /// own.
    package var stem: String {
        let plane = layer?.plane.map { "-plane\($0)" } ?? ""
        let colour = layer?.bayer.map { "-" + $0.colour.rawValue } ?? ""
        return ImageName.stem(path) + plane + colour
    }
}
