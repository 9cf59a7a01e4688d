import Base

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
        /// What of it; `nil` for what the image is of its own HDU.
        package var layer: ImageLayer?
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
    /// Whether the mask and the weights that the image's own file has are used where none is named; `nil` as `false`.
    package var takesOwn: Bool?

    package init() {}

    package var isEmpty: Bool { noise == nil && mask == nil }

    /// Each of its images as a message's check sees it.
    package func validate() throws(SkyError) {
        for image in [noise, mask].compactMap(\.self) {
            try ImageReference.validate(path: image.path, hdu: image.hdu)
            try image.layer?.validate()
            try image.content?.validate()
        }
    }

    /// The HDUs of the image's own file, and what each is used as, in words.
    package var images: [(hdu: Int, use: String)] {
        [(mask?.hdu, "mask"), (noise?.hdu, kind == .weight ? "weights" : "\(kind.rawValue)")].compactMap { hdu, use in
            hdu.map { ($0, use) }
        }
    }

    /// With those of the image's own file where none is named.
    package func completed(by own: Companions?) -> Companions {
        var result = self
        if mask == nil { result.mask = own?.mask }
        if noise == nil, let noise = own?.noise, let kind = own?.kind { (result.noise, result.kind) = (noise, kind) }
        return result
    }
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
