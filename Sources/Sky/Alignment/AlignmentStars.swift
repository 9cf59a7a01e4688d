import Glibc

/// The sources of an image that can show how it lies over another: light that came through the telescope, and not the detector's
/// own, which is at the same pixel in every exposure.
struct AlignmentStars {
    /// Their places in the list of all sources.
    let indices: [Int]
    /// Sources that are sharper than any star, and take no part.
    let sharp: Int

    /// Width below which a source is no star's, as a share of the stars'.
    private static let smallestShare = 0.6
    /// Light in the highest pixel above which a source is no star's, in units of what a star in the middle of a pixel has.
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

    /// What a Gaussian star has of its light in the pixel in whose middle it is.
    private static func highestShare(fwhm: Double) -> Double {
        let side = erf(Gaussian.fwhm / (2 * 2.0.squareRoot() * fwhm))
        return side * side
    }
}
