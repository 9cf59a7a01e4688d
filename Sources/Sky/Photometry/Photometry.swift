import CSEP
import Glibc

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

/// The ellipse of a source in a form that apertures can use. Rounding, and sources of a single pixel, can leave SEP's own
/// ellipse without an area.
struct Ellipse {
    /// Rms along the axes in pixels, a >= b > 0; the angle in radians, -pi/2...pi/2.
    let a: Double
    let b: Double
    let theta: Double
    let cxx: Double
    let cyy: Double
    let cxy: Double

    /// The rms of a single pixel, 1/sqrt(12), which SEP adds to a source that has no extent.
    private static let smallestAxis = 0.288_675

    init(_ object: Detection) {
        a = object.a.isFinite ? max(Double(object.a), Self.smallestAxis) : Self.smallestAxis
        b = object.b.isFinite ? min(max(Double(object.b), Self.smallestAxis), a) : Self.smallestAxis
        // SEP refuses an angle beyond a right angle, although its own rounding produces such angles.
        let rightAngle = Double.pi / 2
        theta = object.theta.isFinite ? min(max(Double(object.theta), -rightAngle), rightAngle) : 0
        var coefficients = (cxx: 0.0, cyy: 0.0, cxy: 0.0)
        sep_ellipse_coeffs(a, b, theta, &coefficients.cxx, &coefficients.cyy, &coefficients.cxy)
        (cxx, cyy, cxy) = coefficients
    }

    /// Half the sides of the box around an ellipse of `radius` times the axes, in pixels.
    func extent(_ radius: Double) -> (x: Double, y: Double) {
        let (sine, cosine) = (sin(theta), cos(theta))
        return (
            radius * (a * a * cosine * cosine + b * b * sine * sine).squareRoot(),
            radius * (a * a * sine * sine + b * b * cosine * cosine).squareRoot()
        )
    }
}
