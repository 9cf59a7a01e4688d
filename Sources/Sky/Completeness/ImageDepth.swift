/// How faint a star an image shows, as far as its own catalogue tells. The brightness of injected stars follows from it.
package struct ImageDepth: Hashable, Sendable {
    /// Full width at half maximum of the image's stars in pixels; `nil` if there are too few to measure it.
    package let fwhm: Double?
    /// Noise of the background (1 sigma) in units of the image; `nil` without sources.
    package let noise: Double?

    /// - Parameter catalogue: The catalogue of the image as it is, without injected stars.
    package init(_ catalogue: Catalogue, configuration: ScanConfiguration) {
        fwhm = catalogue.seeing(configuration)?.fwhm
        // A source has the threshold above which it was found, which is a multiple of the noise.
        var factor = configuration.threshold
        if configuration.thresholdUnit == .filtered { factor *= DetectionKernel(catalogue.filter).noiseFactor }
        let thresholds = catalogue.sources.map(\.threshold).filter { $0 > 0 && $0.isFinite }
        noise = RobustStatistics.median(thresholds).map { $0 / factor }
    }

    /// The flux at which a star has a signal to noise of s in the best possible aperture, that of its own profile: s = F /
    /// sqrt(F / gain + A noise^2) with A its noise-equivalent area (King 1983, PASP 95, 163), solved for F.
    ///
    /// - Parameters:
    ///   - gain: Electrons per unit of the image; 0 leaves the star's own noise out.
    ///   - noise: The noise of an empty pixel.
    package static func flux(
        signalToNoise: Double, fwhm: Double, profile: StarProfile, noise: Double, gain: Double
    ) -> Double {
        let square = signalToNoise * signalToNoise
        let own = gain > 0 ? square / gain : 0
        let sky = 4 * square * profile.point(fwhm: fwhm).noiseEquivalentArea * noise * noise
        return (own + (own * own + sky).squareRoot()) / 2
    }
}
