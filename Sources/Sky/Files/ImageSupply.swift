import Base

/// An image of a file that is on another machine.
package struct PixelFile: Hashable, Codable, Sendable {
    /// Absolute path where the file is.
    package var path: String
    /// What the file holds. A node that does not know it gets nothing.
    package var content: FileContent
    /// The HDU, 0 for the primary; `nil` for the first with an image.
    package var hdu: Int?
    /// The part of the HDU; `nil` for all pixels of the first plane.
    package var layer: ImageLayer?

    package init(path: String, content: FileContent, hdu: Int? = nil, layer: ImageLayer? = nil) {
        (self.path, self.content, self.hdu, self.layer) = (path, content, hdu, layer)
    }
}

extension PixelFile {
    /// The longest path, the same limit as in `FITSSniff`.
    private static let pathLimit = 1000

    /// What is wrong with a value that a stranger sent; `nil` if nothing is.
    package var objection: String? {
        guard path.hasPrefix("/"), path.utf8.count <= PixelFile.pathLimit, !path.utf8.contains(0) else {
            return "a path is absolute and has at most \(PixelFile.pathLimit) bytes, none of them zero"
        }
        if let hdu, !ImageInfo.hdus.contains(hdu) { return "no file has such an HDU" }
        do { try layer?.validate() } catch { return error.message }
        return content.objection
    }
}

/// Provides images of files that cannot be opened on this machine.
package protocol ImageSupply: Sendable {
    /// Blocks until the header's information has arrived.
    ///
    /// - Throws: `SkyError` of kind `unavailable` if the holder cannot be reached, of other kinds if the holder cannot read
    ///   the file.
    func image(_ file: PixelFile, holder: PixelHolder) throws(SkyError) -> any PixelSource
}
