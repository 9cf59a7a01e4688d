/// Images that say how much each pixel of an image is worth.
package struct Companions: Hashable, Codable, Sendable {
    /// What the numbers of a noise image mean.
    package enum NoiseKind: String, Hashable, Codable, Sendable {
        /// Standard deviation, in units of the image (SExtractor's `MAP_RMS`).
        case rms
        /// Its square, up to a factor, which the image's own noise tells (`MAP_VAR`).
        case variance
        /// Inverse variance up to a factor, which the image's own noise tells (`MAP_WEIGHT`).
        case weight
    }

    /// An image of the same size as the one that it belongs to.
    package struct Image: Hashable, Codable, Sendable {
        /// Absolute path, the same on every node.
        package var path: String
        /// `nil` takes the HDU with the number of the scanned image's, or else the first with an image.
        package var hdu: Int?
        /// What the file is known to hold.
        package var content: FileContent?

        package init(path: String, hdu: Int? = nil) {
            self.path = path
            self.hdu = hdu
        }
    }

    /// The noise of each pixel; where it is not above zero, or no number, the pixel is left out.
    package var noise: Image?
    /// What the noise image's numbers are.
    package var kind = NoiseKind.rms
    /// Pixels with any other value than 0 are left out.
    package var mask: Image?

    package init() {}

    var isEmpty: Bool { noise == nil && mask == nil }
}

extension Companions {
    /// The files, as a catalogue names them.
    package func files(_ info: ImageInfo) -> [CatalogueTable.CompanionFile] {
        var files: [CatalogueTable.CompanionFile] = []
        if let noise {
            let keyword = kind.rawValue.uppercased()
            files.append(.init(keyword: keyword, path: noise.path, digest: info.noiseContent?.hexadecimal))
        }
        if let mask { files.append(.init(keyword: "MASK", path: mask.path, digest: info.maskContent?.hexadecimal)) }
        return files
    }
}
