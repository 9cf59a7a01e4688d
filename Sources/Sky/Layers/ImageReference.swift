import Base

/// An image on disk, as every node that may scan it must see it.
package struct ImageReference: Codable, Sendable {
    /// Absolute path, the same on every node.
    package var path: String
    /// Which HDU, 0 for the primary; `nil` for the first with an image.
    package var hdu: Int?
    /// What of it; `nil` for all pixels of the only plane, or of the first.
    package var layer: ImageLayer?
    /// What the file is known to hold: one that holds something else is not the image that is meant.
    package var content: FileContent?
    /// A node that has the file and reads it for those that do not; `nil` where none is known.
    package var holder: PixelHolder?
    /// Weights and masks; `nil` for none.
    package var companions: Companions?
    /// Artificial stars to be added to it; `nil` for none.
    package var injection: Injection?
    /// Where its sources are found; `nil` for in itself.
    package var detection: DetectionImage?

    package init(path: String, hdu: Int?, layer: ImageLayer? = nil, content: FileContent? = nil) {
        self.path = path
        self.hdu = hdu
        self.layer = layer.flatMap { $0.isPlain ? nil : $0 }
        self.content = content
    }
}

extension ImageReference {
    /// A file and what it is known to hold.
    package struct File {
        package var path: String
        package var content: FileContent
        package var holder: PixelHolder?
    }

    /// Of the image and what belongs to it, as far as it is known.
    package var contents: [File] {
        [
            (path, content), (companions?.noise?.path, companions?.noise?.content),
            (companions?.mask?.path, companions?.mask?.content),
            (detection?.image.path, detection?.image.content),
        ]
        .compactMap { path, content in
            guard let path, let content else { return nil }
            return File(path: path, content: content, holder: holder)
        }
    }
}

extension ImageReference {
    /// Bytes of a path, `PATH_MAX` of Linux.
    package static let pathLimit = 4096

    /// - Throws: `.badInput` for what names no image.
    package func validate() throws(SkyError) {
        try ImageReference.validate(path: path, hdu: hdu)
        try holder?.validate()
        try detection?.validate()
        try layer?.validate()
        try content?.validate()
        try companions?.validate()
        try injection?.validate()
    }

    package static func validate(path: String, hdu: Int?) throws(SkyError) {
        try SkyError.unless(
            path.hasPrefix("/") && path.utf8.count <= pathLimit && !path.utf8.contains(0),
            "an image's path must be absolute and of at most \(pathLimit) bytes")
        if let hdu {
            try SkyError.unless(ImageInfo.hdus.contains(hdu), "HDU \(hdu): it must be 0 to 9999")
        }
    }
}

extension PixelHolder {
    package func validate() throws(SkyError) {
        try SkyError.unless(
            name.utf8.count <= PixelHolder.nameLimit, "a node's name of \(name.utf8.count) bytes")
    }
}
