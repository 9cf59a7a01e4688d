import Glibc

/// A rendered frame, what was painted into it, and the header that describes it.
public struct SyntheticSky: Sendable {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// ADU, row by row, `width` times `height` values.
    public let pixels: [Float]
    /// Every source in the frame, the stars first.
    public let truth: [TruthSource]
    /// The header's cards after the mandatory ones.
    public let header: [FITSCard]

    /// Writes the frame as a 32-bit floating point FITS file and its truth beside it (`field.fits` and
    /// `field_truth.csv`). Each file appears whole or not at all.
    ///
    /// - Returns: the name of the truth file.
    /// - Throws: `SkyError` naming the file and the reason.
    @discardableResult
    public func write(to path: String) throws(SkyError) -> String {
        try FITSWriter.write(to: path) { writer in
            let coding = PixelCoding(.float, for: pixels)
            writer.image(width: width, height: height, coding: coding)
            for card in header { writer.card(card) }
            writer.pixels(pixels, coding: coding)
        }
        let truthPath = TruthCatalogue.path(beside: path)
        try TruthCatalogue.write(truth, to: truthPath)
        return truthPath
    }
}

extension SkySynthesis {
    /// Makes the frame. The recipe must have passed `validate()`.
    public func render() -> SyntheticSky {
        let point = MoffatProfile(fwhm: fwhm)
        let population = SkyPopulation(self, pointArea: point.noiseEquivalentArea)
        let stars = population.stars()
        let galaxies = population.galaxies()
        var canvas = PixelCanvas(width: width, height: height)
        // Wings are cut where they drop out of sight: 2 % of the sky's noise for a star, less for each of the
        // Gaussians that add up to a galaxy.
        let noise = max(skyVariance.squareRoot(), 1e-3)
        for star in stars {
            point.paint(x: star.x - 1, y: star.y - 1, flux: star.flux, floor: 0.02 * noise, on: &canvas)
        }
        let seeing = point.mixture
        for galaxy in galaxies {
            let profile = galaxy.sersicIndex == 4 ? GalaxyProfile.deVaucouleurs : .exponential
            profile.paint(
                galaxy, x: galaxy.x - 1, y: galaxy.y - 1, seeing: seeing, floor: 0.001 * noise, on: &canvas)
        }
        DetectorNoise(self).apply(to: &canvas)
        return SyntheticSky(
            width: width, height: height, pixels: canvas.pixels, truth: stars + galaxies, header: cards)
    }

    private var cards: [FITSCard] {
        [
            FITSCard("OBJECT", .text("synthetic sky"), "made by skynode synthesize"),
            FITSCard("BUNIT", .text("adu"), "unit of the pixels"),
            FITSCard("EXPTIME", .real(exposure), "[s] exposure time"),
            FITSCard("GAIN", .real(gain), "[electron/adu] gain"),
            FITSCard("RDNOISE", .real(readNoise), "[electron] read noise"),
            FITSCard("SATURATE", .real(saturation), "[adu] saturation, 0 for none"),
            FITSCard("MAGZERO", .real(zeroPoint), "[mag] magnitude of 1 adu/s"),
            FITSCard("PHOTZP", .real(zeroPoint + 2.5 * log10(exposure)), "[mag] magnitude of 1 adu in this frame"),
            FITSCard("FWHM", .real(fwhm), "[pix] full width at half maximum of a star"),
            FITSCard("SKYLEVEL", .real(sky), "[adu] sky in the middle of the frame"),
            FITSCard("SEED", .unsigned(seed), "seed of everything random"),
        ] + TangentPlane(self).cards
    }
}
