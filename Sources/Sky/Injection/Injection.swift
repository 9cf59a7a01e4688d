import Base

/// Artificial stars that are added to an image while it is scanned, to see what becomes of them. Which stars, where and how
/// bright, follows from this and the image's size alone, so that every node that reads a part of the image adds the same.
///
/// Travels with every task of the scan and decides its results (`CacheKey`).
package struct Injection: Hashable, Codable, Sendable {
    /// Stars that are wanted.
    package var count: Int
    /// Everything random follows from it.
    package var seed: UInt64 = 1
    /// Total flux of the faintest star, in units of the image.
    package var faintest: Double
    /// Total flux of the brightest star, in units of the image.
    package var brightest: Double
    /// Full width at half maximum of the stars in pixels.
    package var fwhm: Double
    /// What the seeing makes of them.
    package var profile = StarProfile.moffat

    /// More would make a catalogue's page too long for a message.
    package static let countLimit = 20_000
    /// Widths that can be had, in pixels: sharper stars than a pixel are not sampled, wider ones are no stars.
    package static let widths = 1.0...50
    /// Fluxes that can be had, in units of the image.
    package static let fluxes = 1e-30...1e30

    package init(count: Int, faintest: Double, brightest: Double, fwhm: Double) {
        self.count = count
        self.faintest = faintest
        self.brightest = brightest
        self.fwhm = fwhm
    }

    /// - Throws: `SkyError` of kind `badInput`, in words for whoever asked for the stars.
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

    /// Least distance between two of the stars in pixels: they are to tell what the image does to a star, not what
    /// they do to each other. At five widths a star of this range has less than a thousandth of its peak.
    var separation: Double { max(10, 5 * fwhm) }

    /// Pixels that are left free at the image's edges.
    var rim: Double { (2 * fwhm).rounded(.up) }

    /// How many stars an image has room for: half as dense as circles can be thrown at random (Renyi 1958).
    package func capacity(width: Int, height: Int) -> Int {
        let room = max(0, Double(width) - 2 * rim) * max(0, Double(height) - 2 * rim)
        return Int(min(0.35 * room / (separation * separation), Double(Injection.countLimit)))
    }
}

extension StarProfile: Codable {}
