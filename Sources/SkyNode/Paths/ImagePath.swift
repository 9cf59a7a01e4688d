import Base
import Glibc
import Sky

/// The paths of images: resolved paths, and the names of their results.
enum ImagePath {
    /// The path without symbolic links (realpath(3)); `nil` where it leads nowhere, and `errno` says why.
    static func resolved(_ path: String) -> String? {
        guard let whole = realpath(path, nil) else { return nil }
        defer { free(whole) }
        return String(cString: whole)
    }

    /// The path of a FITS file in the form that is sent to every node.
    ///
    /// - Throws: `SkyError` naming the file where there is none, or where it is not a FITS file.
    static func checked(_ path: String) throws(SkyError) -> String {
        try FITSSniff.check(path: path, showsStart: true)
        guard let whole = resolved(path) else {
            throw SkyError(.badInput, "\(PrintableText.of(path)): \(String(cString: strerror(errno)))")
        }
        return whole
    }

    /// The file's name without folder and without the endings FITS files have.
    static func stem(_ path: String) -> String {
        var name = path.split(separator: "/").last.map(String.init) ?? "image"
        for ending in [".gz", ".fz"] where name.count > ending.count && name.lowercased().hasSuffix(ending) {
            name.removeLast(ending.count)
        }
        for ending in [".fits", ".fit", ".fts"] where name.count > ending.count && name.lowercased().hasSuffix(ending) {
            name.removeLast(ending.count)
        }
        return name
    }

    /// The name of the results of a job that may be one of several for its file. The planes and the colours of a file are jobs of
    /// their own.
    static func stem(of image: ImageReference) -> String {
        let plane = image.layer?.plane.map { "-plane\($0)" } ?? ""
        let colour = image.layer?.bayer.map { "-" + $0.colour.rawValue } ?? ""
        return stem(image.path) + plane + colour
    }
}
