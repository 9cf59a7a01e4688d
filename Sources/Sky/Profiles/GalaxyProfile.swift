import Glibc

/// The light of a galaxy as a sum of concentric elliptical Gaussians.
///
/// A Gaussian convolved with a Gaussian is a Gaussian whose covariances add, so the seeing takes no extra time (Hogg and Lang
/// 2013, PASP 125, 719, who introduced such mixtures). The shares and variances here are this project's own non-negative
/// least-squares fits of the surface brightness times r^2 to Sersic's law exp(-b r^(1/n)), in units of the half-light radius.
/// They have half their light within radius 1.
struct GalaxyProfile {
    /// Shares of the flux and variances in squared half-light radii.
    let components: [(share: Double, variance: Double)]

    /// A disc, n = 1: within 0.3 % of the exponential law from 0.1 to 3 half-light radii.
    static let exponential = GalaxyProfile(components: [
        (0.005763, 0.014253), (0.034802, 0.06344), (0.128716, 0.19705), (0.304096, 0.51445), (0.381416, 1.2205),
        (0.145207, 2.8106),
    ])

    /// A spheroid, n = 4, cut at 8 half-light radii. The light beyond, 4 %, is spread over the rest. Its cusp inside a
    /// hundredth of the radius is smoothed, far below any seeing.
    static let deVaucouleurs = GalaxyProfile(components: [
        (0.013253, 0.00055978), (0.037386, 0.0041102), (0.077072, 0.020199), (0.127611, 0.082396),
        (0.175215, 0.30411), (0.201438, 1.0718), (0.197942, 3.8738), (0.170083, 18.477),
    ])

    /// Adds a galaxy convolved with the seeing.
    ///
    /// - Parameters:
    ///   - shape: The galaxy's truth: flux, radius, axis ratio and angle. Its position is `x`, `y`, counted from 0.
    ///   - floor: The value below which a component's wing is left out.
    func paint(
        _ shape: TruthSource, x: Double, y: Double, seeing: [(share: Double, variance: Double)], floor: Double,
        on canvas: inout PixelCanvas
    ) {
        let angle = shape.angle * .pi / 180
        let (c, s) = (cos(angle), sin(angle))
        let major = shape.radius * shape.radius
        let minor = major * shape.axisRatio * shape.axisRatio
        for component in components {
            let u = component.variance * major
            let v = component.variance * minor
            for blur in seeing {
                // The value at a pixel's centre stands for the mean over the pixel, which adds the variance of a unit box,
                // 1/12.
                let round = blur.variance + 1.0 / 12
                let gaussian = EllipticalGaussian(
                    flux: shape.flux * component.share * blur.share,
                    xx: u * c * c + v * s * s + round,
                    yy: u * s * s + v * c * c + round,
                    xy: (u - v) * s * c)
                gaussian.paint(x: x, y: y, floor: floor, on: &canvas)
            }
        }
    }
}

/// A two-dimensional normal distribution of light with the given covariance in pixels^2.
struct EllipticalGaussian {
    var flux: Double
    var xx: Double
    var yy: Double
    var xy: Double

    func paint(x: Double, y: Double, floor: Double, on canvas: inout PixelCanvas) {
        let determinant = xx * yy - xy * xy
        let peak = flux / (2 * .pi * determinant.squareRoot())
        guard determinant > 0, peak > floor else { return }
        // The Gaussian reaches the floor where its exponent is -reach^2 / 2.
        let reach2 = 2 * log(peak / floor)
        let a = yy / determinant
        let b = -xy / determinant
        let step = exp(-a)
        let width = canvas.width
        let rows = PixelCanvas.span(around: y, reach: (reach2 * yy).squareRoot(), size: canvas.height)
        canvas.pixels.withUnsafeMutableBufferPointer { pixels in
            for row in rows {
                let dy = Double(row) - y
                // This is the chord of the limiting ellipse on this row (by completing the square in dx).
                let chord = ((reach2 - dy * dy / yy) / a).squareRoot()
                guard chord > 0 else { continue }
                let columns = PixelCanvas.span(around: x + dy * xy / yy, reach: chord, size: width)
                guard let first = columns.first else { continue }
                // Along a row a Gaussian is a product of ratios that themselves change by a constant factor:
                // two multiplications a pixel instead of an exponential.
                let dx = Double(first) - x
                let offset = dx - dy * xy / yy
                var value = peak * exp(-0.5 * (a * offset * offset + dy * dy / yy))
                var ratio = exp(-0.5 * a * (2 * dx + 1) - b * dy)
                for index in row * width + columns.lowerBound..<row * width + columns.upperBound {
                    pixels[index] += Float(value)
                    value *= ratio
                    ratio *= step
                }
            }
        }
    }
}
