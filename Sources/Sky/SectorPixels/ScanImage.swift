import Base

/// An image with its noise and its mask: a pixel that is masked or has no weight is read as a missing one.
package final class ScanImage {
    private let image: any PixelSource
    private let noise: (any PixelSource)?
    private let mask: (any PixelSource)?
    package let kind: Companions.NoiseKind
    /// The artificial stars in the image; `nil` for none.
    package var injected: InjectedLight?

    /// Pixels, and the noise of each pixel if it is known.
    package struct Pixels {
        /// The values row by row, NaN for a missing pixel.
        package var values: [Float]
        /// The standard deviations, up to the factor `noiseScale` of the background map. A missing pixel has any number above
        /// 0.
        var sigmas: [Float]?
    }

    /// - Throws: `.badInput` if images that belong together have different sizes.
    init(
        _ image: any PixelSource, noise: (any PixelSource)? = nil, mask: (any PixelSource)? = nil,
        kind: Companions.NoiseKind = .rms
    ) throws(SkyError) {
        for companion in [noise, mask] {
            guard let companion, !companion.hasSize(of: image) else { continue }
            throw SkyError(
                .badInput,
                "\(FITSSniff.quoted(companion.path)): \(companion.info.width) x \(companion.info.height) pixels, but "
                    + "\(FITSSniff.quoted(image.path)) has \(image.info.width) x \(image.info.height)")
        }
        (self.image, self.noise, self.mask, self.kind) = (image, noise, mask, kind)
    }

    package var images: (sky: any PixelSource, noise: (any PixelSource)?, mask: (any PixelSource)?) {
        (image, noise, mask)
    }
    package var path: String { image.path }
    package var info: ImageInfo { image.info }
    package var wcs: WCSTransform? { image.wcs }
    /// Whether the noise is only known up to a factor.
    var hasRelativeNoise: Bool { noise != nil && kind != .rms }

    /// - Throws: `.badInput` if the rectangle leaves the image or a file's data are damaged.
    package func read(_ rect: PixelRect) throws(SkyError) -> Pixels {
        var pixels = Pixels(values: try image.read(rect))
        injected?.add(to: &pixels.values, rect: rect)
        if let mask {
            let flags = try mask.read(rect)
            for index in flags.indices where flags[index] != 0 { pixels.values[index] = .nan }
        }
        guard let noise else { return pixels }
        var sigmas = try noise.read(rect)
        for index in sigmas.indices {
            let sigma = sigma(sigmas[index])
            guard sigma > 0, sigma.isFinite else {
                pixels.values[index] = .nan
                sigmas[index] = 1
                continue
            }
            sigmas[index] = sigma
        }
        pixels.sigmas = sigmas
        return pixels
    }

    private func sigma(_ value: Float) -> Float {
        switch kind {
        case .rms: value
        case .variance: value.squareRoot()
        case .weight: 1 / value.squareRoot()
        }
    }
}

extension PixelSource {
    func hasSize(of other: any PixelSource) -> Bool {
        (info.width, info.height) == (other.info.width, other.info.height)
    }
}

extension InjectedLight {
    /// The stars whose centres are in a rectangle, with their coordinates and masks.
    ///
    /// - Parameter image: The image to which they are added.
    /// - Throws: The errors of reading the image.
    package func stars(in rect: PixelRect, of image: ScanImage) throws(SkyError) -> [InjectedStar] {
        var own = stars.filter { star in
            let (x, y) = star.pixel
            return rect.contains(PixelRect(x: x, y: y, width: 1, height: 1))
        }
        guard !own.isEmpty else { return [] }
        let pixels = try image.read(rect).values
        let places = image.wcs?.sky(own.map { ($0.x, $0.y) })
        for index in own.indices {
            let (x, y) = own[index].pixel
            own[index].isMasked = pixels[(y - rect.y) * rect.width + x - rect.x].isNaN
            (own[index].alpha, own[index].delta) = (places?[index]?.alpha, places?[index]?.delta)
        }
        return own
    }
}
