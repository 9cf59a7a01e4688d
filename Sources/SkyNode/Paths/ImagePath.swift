import Base
import Glibc
import Sky

/// The paths of images on this machine.
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
}
