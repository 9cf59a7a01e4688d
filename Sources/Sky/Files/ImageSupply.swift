import Base

/// An image of a file that is not here, but somewhere else.
package struct PixelFile: Hashable, Codable, Sendable {
    /// Absolute path where the file is.
    package var path: String
    /// What it holds. Who does not know it gets nothing.
    package var content: FileContent
    /// Which HDU, 0 for the primary; `nil` for the first with an image.
    package var hdu: Int?
    /// What of it; `nil` for all pixels of the first plane.
    package var layer: ImageLayer?

    package init(path: String, content: FileContent, hdu: Int? = nil, layer: ImageLayer? = nil) {
        (self.path, self.content, self.hdu, self.layer) = (path, content, hdu, layer)
    }
}

extension PixelFile {
    /// Longest path, as `FITSSniff` has it.
    private static let pathLimit = 1000

    /// What is wrong with it as something that a stranger sent; `nil` where nothing is.
    package var objection: String? {
        guard path.hasPrefix("/"), path.utf8.count <= PixelFile.pathLimit, !path.utf8.contains(0) else {
            return "a path is absolute and has at most \(PixelFile.pathLimit) bytes, none of them zero"
        }
        if let hdu, !ImageInfo.hdus.contains(hdu) { return "no file has such an HDU" }
        do { try layer?.validate() } catch { return error.message }
        return content.objection
    }
}

/// Who looked at a file's header, and so can read it: a mark of the program around this module, which knows what it means.
package struct PixelHolder: Hashable, Codable, Sendable {
    package var node: UInt64
    /// By which it is found again after a restart.
    package var name: String

    package init(node: UInt64, name: String) { (self.node, self.name) = (node, name) }

    /// Bytes of a name.
    package static let nameLimit = 256
}

/// Gives images of files that cannot be opened here.
package protocol ImageSupply: Sendable {
    /// Blocks until what the header says is there.
    ///
    /// - Throws: `SkyError` of kind `unavailable` where the holder cannot be reached, of other kinds where it cannot read the file.
    func image(_ file: PixelFile, holder: PixelHolder) throws(SkyError) -> any PixelSource
}
