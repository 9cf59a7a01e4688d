import Glibc

/// The image of a point source: a Moffat function of exponent 3, which is close to real seeing with its broad wings (Moffat
/// 1969, A&A 3, 455; Trujillo et al. 2001, MNRAS 328, 977).
///
/// I(r) = 2 / (pi alpha^2) (1 + r^2/alpha^2)^-3, which has unit flux.
struct MoffatProfile: PointProfile {
    /// Full width at half maximum in pixels.
    let fwhm: Double
    /// Scale radius in pixels: fwhm / (2 sqrt(2^(1/3) - 1)).
    let alpha: Double

    init(fwhm: Double) {
        self.fwhm = fwhm
        alpha = fwhm / (2 * (cbrt(2.0) - 1).squareRoot())
    }

    /// Value at the centre for unit flux.
    var peak: Double { 2 / (.pi * alpha * alpha) }

    /// Radius at which a source of this flux falls below `floor` a pixel, the edge of its stamp.
    func radius(flux: Double, floor: Double) -> Double {
        let ratio = max(flux * peak / floor, 1)
        let wing = alpha * (cbrt(ratio) - 1).squareRoot()
        return min(max(wing.rounded(.up), (2.5 * fwhm).rounded(.up)), 1000)
    }

    /// Adds a point source. Pixels near the centre are averaged over 3 x 3 points. Farther out the profile is straight enough
    /// for one point.
    func paint(x: Double, y: Double, flux: Double, floor: Double, on canvas: inout PixelCanvas) {
        let reach = radius(flux: flux, floor: floor)
        let columns = PixelCanvas.span(around: x, reach: reach, size: canvas.width)
        let rows = PixelCanvas.span(around: y, reach: reach, size: canvas.height)
        guard !columns.isEmpty, !rows.isEmpty else { return }
        let core = 1.5 * fwhm + 1
        let inner = PixelCanvas.span(around: x, reach: core, size: canvas.width)
        let scale = Float(1 / (alpha * alpha))
        let amplitude = Float(flux * peak)
        let width = canvas.width
        canvas.pixels.withUnsafeMutableBufferPointer { pixels in
            for row in rows {
                let start = row * width
                let dy = Double(row) - y
                let fine = abs(dy) <= core ? inner.clamped(to: columns) : columns.lowerBound..<columns.lowerBound
                let dy2 = Float(dy * dy) * scale
                func coarse(_ range: Range<Int>) {
                    for column in range {
                        let dx = Float(column) - Float(x)
                        let q = 1 + dx * dx * scale + dy2
                        pixels[start + column] += amplitude / (q * q * q)
                    }
                }
                coarse(columns.lowerBound..<fine.lowerBound)
                coarse(fine.upperBound..<columns.upperBound)
                for column in fine {
                    pixels[start + column] += amplitude * average(dx: Double(column) - x, dy: dy)
                }
            }
        }
    }

    /// Noise-equivalent area in pixels, 1 / sum(p^2) over the pixels' shares p of a centred source (King 1983).
    var noiseEquivalentArea: Double {
        let reach = Int((8 * fwhm).rounded(.up))
        var sum = 0.0
        var squares = 0.0
        for row in -reach...reach {
            for column in -reach...reach {
                let share = Double(average(dx: Double(column), dy: Double(row)))
                sum += share
                squares += share * share
            }
        }
        return sum * sum / squares
    }

    /// The profile as a sum of round Gaussians, for convolving galaxies: shares of the flux and variances in pixels^2.
    ///
    /// (1 + s)^-3 = 1/2 integral of t^2 e^-t e^-ts dt: a Moffat function *is* a mixture of Gaussians of variance alpha^2 / 2t
    /// with weight t e^-t, and generalised Gauss-Laguerre quadrature selects the best few of them (Abramowitz and Stegun
    /// 25.4.45 with exponent 1). Four nodes follow the profile to 1.5 % out to r = alpha, and keep its centre and its flux
    /// exactly. Only the far wings are too faint, and these are lost in a galaxy's own light.
    var mixture: [(share: Double, variance: Double)] {
        [
            (0.446870594, 0.743291927), (0.477635773, 2.571635008), (0.074177784, 5.731178752),
            (0.001315849, 10.953894313),
        ].map { (share: $0.0, variance: alpha * alpha / (2 * $0.1)) }
    }

    /// Beyond r falls (1 + r^2/alpha^2)^-2 of the light, which is 0.02 % at eight widths.
    var reach: Double { 8 * fwhm }

    /// The share of a pixel. Near the centre it is the mean over 5 x 5 points of the pixel, farther out the value in its
    /// middle.
    func share(dx: Double, dy: Double) -> Double {
        let scale = 1 / (alpha * alpha)
        func value(_ x: Double, _ y: Double) -> Double {
            let q = 1 + (x * x + y * y) * scale
            return 1 / (q * q * q)
        }
        let core = 2 * fwhm + 1
        guard dx * dx + dy * dy < core * core else { return peak * value(dx, dy) }
        var sum = 0.0
        for row in -2...2 {
            for column in -2...2 { sum += value(dx + 0.2 * Double(column), dy + 0.2 * Double(row)) }
        }
        return peak * sum / 25
    }

    /// Mean over one pixel in units of the peak.
    private func average(dx: Double, dy: Double) -> Float {
        let scale = Float(1 / (alpha * alpha))
        let third: Float = 1 / 3
        let x0 = Float(dx)
        let y0 = Float(dy)
        var sum: Float = 0
        for row in -1...1 {
            let y = y0 + third * Float(row)
            for column in -1...1 {
                let x = x0 + third * Float(column)
                let q = 1 + (x * x + y * y) * scale
                sum += 1 / (q * q * q)
            }
        }
        return sum / 9
    }
}
