import Base

/// Images that tell how good each pixel of an image is.
package struct Companions: Hashable, Codable, Sendable {
    /// What the numbers of a noise image mean.
    package enum NoiseKind: String, Hashable, Codable, Sendable {
        /// Standard deviation, in units of the image (SExtractor's `MAP_RMS`).
        case rms
        /// Variance up to a factor, which is found from the image's own noise (`MAP_VAR`).
        case variance
        /// Inverse variance up to a factor, which is found from the image's own noise (`MAP_WEIGHT`).
        case weight
    }

    /// An image of the same size as the one that it belongs to.
    package struct Image: Hashable, Codable, Sendable {
        /// Absolute path, the same on every node.
        package var path: String
        /// The HDU; `nil` takes the one with the number of the scanned image's HDU, or else the first with an image.
        package var hdu: Int?
        /// The part of the HDU; `nil` takes the same part as the image has of its own HDU.
        package var layer: ImageLayer?
        /// What the file holds, if it is known.
        package var content: FileContent?

        package init(path: String, hdu: Int? = nil) {
            self.path = path
            self.hdu = hdu
        }
    }

    /// The noise of each pixel. A pixel whose noise is not above zero, or is not a number, is left out.
    package var noise: Image?
    /// The meaning of the noise image's numbers.
    package var kind = NoiseKind.rms
    /// The mask: pixels with any other value than 0 are left out.
    package var mask: Image?
    /// Whether the mask and the weights in the image's own file are used if the user names none; `nil` as `false`.
    package var takesOwn: Bool?

    package init() {}

    package var isEmpty: Bool { noise == nil && mask == nil }

    /// Checks each of its images as the images of a message are checked.
    package func validate() throws(SkyError) {
        for image in [noise, mask].compactMap(\.self) {
            try ImageReference.validate(path: image.path, hdu: image.hdu)
            try image.layer?.validate()
            try image.content?.validate()
        }
    }

    /// The HDUs of the image's own file that are used, and the use of each in words.
    package var images: [(hdu: Int, use: String)] {
        [(mask?.hdu, "mask"), (noise?.hdu, kind == .weight ? "weights" : "\(kind.rawValue)")].compactMap { hdu, use in
            hdu.map { ($0, use) }
        }
    }

    /// The companions that the user named, completed by those of the image's own file.
    package func completed(by own: Companions?) -> Companions {
        var result = self
        if mask == nil { result.mask = own?.mask }
        if noise == nil, let noise = own?.noise, let kind = own?.kind { (result.noise, result.kind) = (noise, kind) }
        return result
    }
}
