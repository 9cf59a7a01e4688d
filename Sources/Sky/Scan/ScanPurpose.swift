import Base
import Glibc

/// What the user plans with an image after its scan. If the image's header tells that this cannot work, nothing of the image is
/// scanned.
package struct ScanPurpose: Hashable, Codable, Sendable {
    /// Whether the image is the reference that others are compared with.
    package var isReference = false
    /// The circle of the sky that the reference covers; `nil` if there is no reference, or if it has no coordinates.
    package var reference: SkyCircle?
    /// The largest error of coordinates, in arcseconds; `nil` for the usual one.
    package var coordinateError: Double?
    /// Whether the image is compared with another one.
    package var isCompared = false
    /// Artificial stars that are added to the image; `nil` for none.
    package var injection: InjectionDemand?

    package init() {}

    /// - Throws: `.badInput` if the values are not valid.
    package func validate() throws(SkyError) {
        try reference?.validate()
        try SkyError.unless(
            (0...36_000).contains(coordinateError ?? 0), "coordinates that may be off by \(coordinateError ?? 0) arcsec"
        )
        try injection?.validate(zeroPoint: nil)
    }

    /// - Throws: `.badInput` with the reason why the purpose cannot work with this image.
    package func check(_ info: ImageInfo, layer: ImageLayer?, configuration: ScanConfiguration) throws(SkyError) {
        let name = injection == nil ? "--reference" : isCompared ? "--reference and --inject" : "--inject"
        if info.layer?.scale != nil {
            throw SkyError(
                .badInput, "its values are more than 32-bit floats hold, and \(name) needs such; divide the image first"
            )
        }
        if isReference, let cube = info.cube, cube.isColourImage, layer?.plane == nil {
            throw SkyError(.badInput, "a colour image: --plane names the one of its planes that is compared")
        }
        if let reference, let own = info.place {
            // The matching of the sources allows for ten pixels. A rim of a tenth is larger than the error of the circles.
            let rim = 0.1 * (reference.radius + own.radius) + (coordinateError ?? 60) / 3600
            let distance = reference.distance(to: own)
            guard distance <= reference.radius + own.radius + rim else {
                throw SkyError(
                    .badInput,
                    "the two images do not overlap: by their coordinates their middles lie "
                        + "\(DecimalText.fixed(distance, 2)) degrees apart")
            }
        }
        try injection?.check(info, configuration: configuration)
    }
}

extension InjectionDemand {
    /// - Throws: `.badInput` for stars that do not fit into the image, regardless of the sources in it.
    fileprivate func check(_ info: ImageInfo, configuration: ScanConfiguration) throws(SkyError) {
        if magnitudes != nil { try validate(zeroPoint: configuration.zeroPoint ?? 0) }
        // The narrowest stars have the most room.
        let star = Injection(count: 1, faintest: 1, brightest: 1, fwhm: fwhm ?? Injection.widths.lowerBound)
        let capacity = star.capacity(width: info.width, height: info.height)
        let (most, _) = capacity.multipliedReportingOverflow(by: InjectionDemand.mostRounds)
        guard count <= most else {
            throw SkyError(
                .badInput,
                "--inject \(count): the image has room for \(capacity) stars of a width of "
                    + "\(DecimalText.fixed(star.fwhm, 2)) pixels at a time, for "
                    + "\(most) in \(InjectionDemand.mostRounds) scans")
        }
    }
}
