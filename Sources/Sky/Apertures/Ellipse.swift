import CSEP
import Glibc

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

    /// The nearest ellipse that has an area, and an angle up to a right one, which rounding may exceed.
    init(a: Float, b: Float, theta: Float) {
        self.a = a.isFinite ? max(Double(a), Self.smallestAxis) : Self.smallestAxis
        self.b = b.isFinite ? min(max(Double(b), Self.smallestAxis), self.a) : Self.smallestAxis
        let rightAngle = Double.pi / 2
        self.theta = theta.isFinite ? min(max(Double(theta), -rightAngle), rightAngle) : 0
        var coefficients = (cxx: 0.0, cyy: 0.0, cxy: 0.0)
        sep_ellipse_coeffs(self.a, self.b, self.theta, &coefficients.cxx, &coefficients.cyy, &coefficients.cxy)
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

    /// Half the sides of the box around an ellipse of `radius` times the axes, in pixels, as SEP computes it.
    func reach(_ radius: Double) -> (x: Double, y: Double) {
        let (x, y) = (cxx - cxy * cxy / (4 * cyy), cyy - cxy * cxy / (4 * cxx))
        return (x > 0 ? radius / x.squareRoot() : 0, y > 0 ? radius / y.squareRoot() : 0)
    }

    /// The columns of a line that an ellipse of `radius` times the axes covers, with one more pixel on each side, so that the
    /// corners of the ellipse's box need no test.
    ///
    /// - Parameters:
    ///   - distance: The distance of the line from the centre along y.
    ///   - x: The centre.
    ///   - columns: The columns that there are.
    func columns(of distance: Double, radius: Double, around x: Double, within columns: Range<Int>) -> Range<Int> {
        let slant = cxy * distance / (2 * cxx)
        let square = (radius * radius - cyy * distance * distance) / cxx + slant * slant
        guard square.isFinite, slant.isFinite else { return columns }
        guard square > -1, let lastColumn = columns.last else { return columns.lowerBound..<columns.lowerBound }
        let (half, middle) = (max(square, 0).squareRoot() + 1, x - slant)
        let first = max(Double(columns.lowerBound), middle - half)
        let last = min(Double(lastColumn), middle + half)
        return first <= last ? Int(first)..<Int(last) + 1 : columns.lowerBound..<columns.lowerBound
    }
}
