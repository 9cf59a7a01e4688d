/// Fluxes of one source in apertures around it.
struct Photometry {
    var fluxAuto = 0.0
    var fluxErrorAuto = 0.0
    /// One for each circular aperture.
    var fluxesAperture: [Double] = []
    var fluxErrorsAperture: [Double] = []
    /// The level that was subtracted from every pixel of these fluxes, beside the image's background.
    var localBackground = 0.0
    /// The Kron radius in units of the ellipse's axes.
    var kronRadius = Photometry.smallestKronRadius
    /// The half-light radius in pixels.
    var halfLightRadius = 0.0
    /// Centroid under a Gaussian window as wide as the half-light radius, in pixels of the rectangle.
    var window = (x: 0.0, y: 0.0)
    var flags: SourceFlags = []

    /// The radius around the barycentre, in pixels, within which pixels decide the measurements.
    func reach(of object: Detection, _ ellipse: Ellipse) -> Double {
        let drift = max(abs(window.x - object.x), abs(window.y - object.y))
        return max(kronRadius * ellipse.a, drift + Photometry.windowReach * halfLightRadius)
    }

    /// SExtractor's `PHOT_AUTOPARAMS`: the Kron factor, and the least radius in units of the axes.
    static let kronFactor = 2.5
    static let smallestKronRadius = 3.5
    /// The ellipse in which the first moment is taken, in units of the axes (SExtractor's `KRON_NSIG`).
    static let momentRadius = 6.0
    /// No light inside the moment's ellipse has a larger mean radius, but negative pixels can make it seem larger.
    static let largestKronRadius = kronFactor * momentRadius

    /// How far the window of the windowed position reaches, in half-light radii: four times its sigma. That sigma is the one of
    /// a Gaussian whose full width at half maximum is twice the half-light radius.
    static let windowReach = 4 * windowSigma
    /// The value is 2 / 2.35, as in SExtractor and SEP.
    static let windowSigma = 2 / 2.35
}

extension Ellipse {
    init(_ object: Detection) {
        self.init(a: object.a, b: object.b, theta: object.theta)
    }
}
