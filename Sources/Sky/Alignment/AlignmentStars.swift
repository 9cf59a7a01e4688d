import Glibc

/// The sources of an image that can show how the image lies over another one. They are light that came through the telescope,
/// and not the detector's own, which is at the same pixel in every exposure.
struct AlignmentStars {
    /// The places of these sources in the list of all sources.
    let indices: [Int]
    /// The number of sources that are sharper than any star, and are not used.
    let sharp: Int

    /// The width below which a source is not a star, as a share of the stars' width.
    private static let smallestShare = 0.6
    /// The share of light in the highest pixel above which a source is not a star, in units of the share of a star in the
    /// middle of a pixel.
    private static let largestConcentration = 2.5

    init(_ sources: [Source], seeing: Seeing?) {
        let narrowest = (seeing?.fwhm ?? 0) * Self.smallestShare
        let most = min(
            StarWidths.largestConcentration,
            seeing.map { Self.largestConcentration * Self.highestShare(fwhm: $0.fwhm) } ?? 1)
        var sharp = 0
        indices = sources.indices.filter { index in
            let source = sources[index]
            let isSharp = source.fwhm <= 0 || source.fwhm < narrowest || source.peak > most * source.fluxAuto
            if isSharp { sharp += 1 }
            return !isSharp && SourceFlags(rawValue: source.flags).isDisjoint(with: .saturated)
        }
        self.sharp = sharp
    }

    /// The share of a Gaussian star's light in the pixel in whose middle the star is.
    private static func highestShare(fwhm: Double) -> Double {
        let side = erf(Gaussian.fwhm / (2 * 2.0.squareRoot() * fwhm))
        return side * side
    }
}
