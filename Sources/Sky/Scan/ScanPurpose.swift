import Base
import Glibc

/// What comes after a scan, where the image's header tells that it cannot work: then nothing of the image is scanned.
package struct ScanPurpose: Hashable, Codable, Sendable {
    /// Whether the image is the reference that others are compared with.
    package var isReference = false
    /// Where the reference lies that it is to be compared with; `nil` where it is not, or has no coordinates.
    package var reference: SkyCircle?
    /// How far coordinates may be off, in arcseconds; `nil` for what is usual.
    package var coordinateError: Double?
    /// Whether it is compared with anything.
    package var isCompared = false
    /// Artificial stars that are put into it; `nil` for none.
    package var injection: InjectionDemand?

    package init() {}

    /// - Throws: `.badInput` for what no purpose can be.
    package func validate() throws(SkyError) {
        try reference?.validate()
        try SkyError.unless(
            (0...36_000).contains(coordinateError ?? 0), "coordinates that may be off by \(coordinateError ?? 0) arcsec"
        )
        try injection?.validate(zeroPoint: nil)
    }

    /// - Throws: `.badInput` with the reason why it cannot work with this image.
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
            // Whoever matches the sources allows for ten pixels; a rim of a tenth is more than the circles are wrong by.
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
    /// - Throws: `.badInput` for stars that the image cannot have, whatever is found in it.
    fileprivate func check(_ info: ImageInfo, configuration: ScanConfiguration) throws(SkyError) {
        if magnitudes != nil { try validate(zeroPoint: configuration.zeroPoint ?? 0) }
        // Of the narrowest stars most have room.
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
