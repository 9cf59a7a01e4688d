import Base

/// An image on disk, with all that a node needs to find the same image.
package struct ImageReference: Codable, Sendable {
    /// Absolute path, the same on every node.
    package var path: String
    /// The HDU, 0 for the primary; `nil` for the first with an image.
    package var hdu: Int?
    /// The part of the HDU; `nil` for all pixels of the only plane, or of the first.
    package var layer: ImageLayer?
    /// What the file should hold, if it is known. A file with another content is not the intended image.
    package var content: FileContent?
    /// A node that has the file and reads it for nodes that do not; `nil` if none is known.
    package var holder: PixelHolder?
    /// Weights and masks; `nil` for none.
    package var companions: Companions?
    /// Artificial stars to be added to the image; `nil` for none.
    package var injection: Injection?
    /// The image in which its sources are found; `nil` if that is the image itself.
    package var detection: DetectionImage?

    package init(path: String, hdu: Int?, layer: ImageLayer? = nil, content: FileContent? = nil) {
        self.path = path
        self.hdu = hdu
        self.layer = layer.flatMap { $0.isPlain ? nil : $0 }
        self.content = content
    }
}

extension ImageReference {
    /// A file and its known content.
    package struct File {
        package var path: String
        package var content: FileContent
        package var holder: PixelHolder?
    }

    /// The files of the image and of its companions whose content is known.
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
    /// Its file, those of its weights and mask, and that of the image in which its sources are found.
    package var paths: [String] {
        var seen: Set<String> = []
        return [path, companions?.noise?.path, companions?.mask?.path, detection?.image.path].compactMap(\.self)
            .filter { seen.insert($0).inserted }
    }

    /// Says what a file should hold, in each of its uses.
    package mutating func expect(_ content: FileContent, at path: String) {
        if self.path == path { self.content = content }
        if companions?.noise?.path == path { companions?.noise?.content = content }
        if companions?.mask?.path == path { companions?.mask?.content = content }
        if detection?.image.path == path { detection?.image.content = content }
    }
}

extension ImageReference {
    /// The largest number of bytes of a path, `PATH_MAX` of Linux.
    package static let pathLimit = 4096

    /// - Throws: `.badInput` if the values name no image.
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
