/// The image of a point source under the seeing.
public enum StarProfile: String, Sendable, CaseIterable {
    /// A Moffat function of exponent 3, with the broad wings of real seeing.
    case moffat
    /// A Gaussian, whose light ends where its formula says.
    case gaussian

    /// The profile of the given full width at half maximum in pixels.
    package func point(fwhm: Double) -> any PointProfile {
        switch self {
        case .moffat: MoffatProfile(fwhm: fwhm)
        case .gaussian: GaussianProfile(fwhm: fwhm)
        }
    }
}

/// The image of a point source of unit flux.
package protocol PointProfile {
    /// Full width at half maximum in pixels.
    var fwhm: Double { get }
    /// Noise-equivalent area in pixels, 1 / sum(p^2) over the pixels' shares p of a centred source
    /// (King 1983, PASP 95, 163).
    var noiseEquivalentArea: Double { get }
    /// The profile as a sum of round Gaussians, for convolving galaxies: shares of the flux and variances in pixels^2.
    var mixture: [(share: Double, variance: Double)] { get }

    /// Distance from the centre in pixels beyond which less than a thousandth of the light falls.
    var reach: Double { get }

    /// Share of the light that falls into the pixel whose centre is this far from the source's.
    func share(dx: Double, dy: Double) -> Double

    /// Adds a point source at `x`, `y`, counted from 0. Light below `floor` in a pixel is left out.
    func paint(x: Double, y: Double, flux: Double, floor: Double, on canvas: inout PixelCanvas)
}
