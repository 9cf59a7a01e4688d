import Glibc

/// The image of a point source: a round Gaussian. Each pixel has the light that falls into it.
struct GaussianProfile: PointProfile {
    /// Full width at half maximum in pixels.
    let fwhm: Double
    /// Standard deviation in pixels: fwhm / (2 sqrt(2 ln 2)).
    let sigma: Double

    init(fwhm: Double) {
        self.fwhm = fwhm
        sigma = Self.sigma(fwhm: fwhm)
    }

    /// Standard deviation of a Gaussian of full width at half maximum `fwhm`.
    static func sigma(fwhm: Double) -> Double { fwhm / (8 * log(2.0)).squareRoot() }

    /// The light of a pixel is a product of two differences of error functions, one for the column and one for the row.
    func paint(x: Double, y: Double, flux: Double, floor: Double, on canvas: inout PixelCanvas) {
        let peak = flux / (2 * .pi * sigma * sigma)
        let reach = max(sigma * (2 * log(max(peak / floor, 1))).squareRoot(), 2.5 * fwhm).rounded(.up)
        let columns = PixelCanvas.span(around: x, reach: reach, size: canvas.width)
        let rows = PixelCanvas.span(around: y, reach: reach, size: canvas.height)
        guard !columns.isEmpty, !rows.isEmpty else { return }
        let across = columns.map { Float(share(Double($0) - x)) }
        let width = canvas.width
        canvas.pixels.withUnsafeMutableBufferPointer { pixels in
            for row in rows {
                let amplitude = Float(flux * share(Double(row) - y))
                let start = row * width + columns.lowerBound
                for (index, share) in across.enumerated() {
                    pixels[start + index] += amplitude * share
                }
            }
        }
    }

    var noiseEquivalentArea: Double {
        let reach = Int((8 * sigma).rounded(.up))
        let squares = (-reach...reach).reduce(0.0) { $0 + share(Double($1)) * share(Double($1)) }
        return 1 / (squares * squares)
    }

    var mixture: [(share: Double, variance: Double)] { [(share: 1, variance: sigma * sigma)] }

    /// Beyond r falls exp(-r^2 / 2 sigma^2) of the light, which is four millionths at five sigma.
    var reach: Double { 5 * sigma }

    func share(dx: Double, dy: Double) -> Double { share(dx) * share(dy) }

    /// Share of the light in the pixel-wide strip at a distance from the centre.
    private func share(_ distance: Double) -> Double {
        let scale = 1 / (sigma * 2.0.squareRoot())
        return 0.5 * (erf((distance + 0.5) * scale) - erf((distance - 0.5) * scale))
    }
}
