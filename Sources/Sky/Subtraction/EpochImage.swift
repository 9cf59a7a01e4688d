import Base

/// An image during a comparison: access to its pixels, and its background.
package struct EpochImage {
    /// The size of the image.
    package let info: ImageInfo
    /// The background under its sources.
    package let background: BackgroundMap
    /// Returns the pixels of a rectangle, row by row, NaN for a missing one.
    private let source: (PixelRect) throws(SkyError) -> [Float]
    /// Right ascension and declination in degrees of pixels counted from 1.
    package let sky: ([(x: Double, y: Double)]) -> [(alpha: Double, delta: Double)?]

    /// - Parameters:
    ///   - sky: The coordinates of pixels; leave it out for an image without celestial coordinates.
    ///   - source: Reads the pixels of a rectangle inside the image.
    /// - Throws: `.badInput` if the background is another image's.
    package init(
        info: ImageInfo, background: BackgroundMap,
        sky: @escaping ([(x: Double, y: Double)]) -> [(alpha: Double, delta: Double)?] = { $0.map { _ in nil } },
        source: @escaping (PixelRect) throws(SkyError) -> [Float]
    ) throws(SkyError) {
        guard info.width == background.width, info.height == background.height else {
            throw SkyError(
                .badInput,
                "an image of \(info.width) x \(info.height) pixels cannot be compared by a background measured on"
                    + " \(background.width) x \(background.height); did the file change?")
        }
        (self.info, self.background, self.sky, self.source) = (info, background, sky, source)
    }

    /// Uses an open file. Its calls block, so use it in a worker only.
    init(_ image: ScanImage, background: BackgroundMap) throws(SkyError) {
        let wcs = image.wcs
        try self.init(
            info: image.info, background: background,
            sky: { points in wcs?.sky(points) ?? points.map { _ in nil } },
            source: { rect throws(SkyError) in try image.read(rect).values })
    }

    /// The pixels of `rect` above the background, and the mask of those that cannot be used: NaN, and values from `saturation`
    /// on. If `seeing` is given, pixels that are sharper than stars of that full width in pixels, at `gain` electrons per unit,
    /// are replaced too; their original values are returned.
    func read(
        _ rect: PixelRect, saturation: Double?, seeing: Double? = nil, gain: Double = 0
    ) throws(SkyError) -> (values: [Float], mask: [PixelMask], sharp: [(index: Int, value: Float)]) {
        var values = try source(rect)
        guard values.count == rect.width * rect.height else {
            throw SkyError(.failed, "\(values.count) pixels came for \(rect.width) x \(rect.height)")
        }
        let level = Float(saturation ?? .infinity)
        var mask = [PixelMask](repeating: [], count: values.count)
        for index in values.indices {
            if !(abs(values[index]) < 1e30) {
                mask[index] = .missing
            } else if values[index] >= level {
                mask[index] = .saturated
            }
        }
        background.subtract(from: &values, rect: rect)
        for index in values.indices where mask[index] == .missing { values[index] = 0 }
        let sharp = seeing.map { SharpPixels(fwhm: $0, gain: gain).clean(&values, &mask, width: rect.width) } ?? []
        return (values, mask, sharp)
    }
}

/// What is wrong with a pixel.
struct PixelMask: OptionSet {
    let rawValue: UInt8

    /// One of the images has no pixel here.
    static let missing = PixelMask(rawValue: 1)
    /// The pixel is at least as bright as the detector can measure.
    static let saturated = PixelMask(rawValue: 2)
    /// The pixel is sharper than stars: a hot pixel or a cosmic ray. It has been replaced by the mean of the pixels around it.
    static let sharp = PixelMask(rawValue: 4)

    /// Pixels near such a pixel cannot be judged.
    static let blocking: PixelMask = [.missing, .saturated]
}
