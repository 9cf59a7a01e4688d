import Base

/// Artificial stars that are added to an image during its scan, to see how they are found and measured. The stars, their places
/// and their fluxes follow from this value and the image's size alone, so that every node that reads a part of the image adds
/// the same stars.
///
/// It goes with every task of the scan and decides the task's result (`CacheKey`).
package struct Injection: Hashable, Codable, Sendable {
    /// The number of stars.
    package var count: Int
    /// The seed of everything random.
    package var seed: UInt64 = 1
    /// Total flux of the faintest star, in units of the image.
    package var faintest: Double
    /// Total flux of the brightest star, in units of the image.
    package var brightest: Double
    /// Full width at half maximum of the stars in pixels.
    package var fwhm: Double
    /// The image of a star under the seeing.
    package var profile = StarProfile.moffat

    /// With more stars, a catalogue's page would be too long for a message.
    package static let countLimit = 20_000
    /// The widths that are allowed, in pixels. Stars sharper than a pixel are not sampled, and wider ones are not stars.
    package static let widths = 1.0...50
    /// The fluxes that are allowed, in units of the image.
    package static let fluxes = 1e-30...1e30

    package init(count: Int, faintest: Double, brightest: Double, fwhm: Double) {
        self.count = count
        self.faintest = faintest
        self.brightest = brightest
        self.fwhm = fwhm
    }

    /// - Throws: `SkyError` of kind `badInput`, in words for the user who asked for the stars.
    package func validate() throws(SkyError) {
        guard (1...Injection.countLimit).contains(count) else {
            throw SkyError(.badInput, "the number of injected stars must be 1 to \(Injection.countLimit), not \(count)")
        }
        guard Injection.widths.contains(fwhm) else {
            throw SkyError(.badInput, "the FWHM of injected stars must be 1 to 50 pixels, not \(fwhm)")
        }
        guard Injection.fluxes.contains(faintest), Injection.fluxes.contains(brightest), faintest <= brightest else {
            throw SkyError(.badInput, "injected stars must have fluxes above 0, the faintest first")
        }
    }

    /// The least distance between two of the stars in pixels. They should show the effect of the image on a star, and not their
    /// effect on each other. At five widths a star of this range has less than a thousandth of its peak.
    var separation: Double { max(10, 5 * fwhm) }

    /// The width in pixels of the border of the image that is left free.
    var rim: Double { (2 * fwhm).rounded(.up) }

    /// The number of stars for which an image has room: half as dense as circles can be thrown at random (Renyi 1958).
    package func capacity(width: Int, height: Int) -> Int {
        let room = max(0, Double(width) - 2 * rim) * max(0, Double(height) - 2 * rim)
        return Int(min(0.35 * room / (separation * separation), Double(Injection.countLimit)))
    }
}

extension StarProfile: Codable {}
