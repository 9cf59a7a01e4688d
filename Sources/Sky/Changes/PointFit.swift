import Glibc

/// How well a point source explains the rest at a place where two images differ, and how well a narrower source does.
///
/// Everything is fitted to the pixels of the unsmoothed difference by least squares.
struct PointFit {
    /// A pixel, counted from the peak.
    private struct Pixel {
        let x: Double
        let y: Double
        let value: Double
        let shape: Double
        let variance: Double
    }

    /// Mean square deviation from the point source, in units of its error.
    var misfit: Double { pixels.isEmpty ? 0 : squares / Double(pixels.count) }
    /// The largest square deviation of a single pixel.
    private(set) var worst = 0.0

    private let flux: Double
    private var squares = 0.0
    private var pixels: [Pixel] = []
    /// The sum of light times shape, and the sum of the shape's square, both over the variance, for all pixels as they are in
    /// the images. They include the pixels that were replaced because they are sharper than stars.
    private var light = 0.0
    private var shape = 0.0
    /// The same sums for the pixels that were not replaced.
    private var othersLight = 0.0
    private var othersShape = 0.0
    /// The share of the point's light that would be in the replaced pixels.
    private var replaced = 0.0

    /// The width of the narrower source, as a share of a star's.
    private static let narrow = 0.6
    /// How much better the narrower source must explain the light. Nineteen of twenty stars of a real frame are below 1 at any
    /// brightness, cosmic rays between 1.3 and 5.
    private static let advantage = 1.1
    /// The least width in pixels. Nothing is narrower than stars that cover hardly more than a pixel.
    private static let leastWidth = 1.8
    /// The places of the point that are tried, in steps of a quarter of a pixel in each direction.
    private static let steps = -4...4
    /// If less of a point's light is in the replaced pixels, they do not decide the result.
    private static let leastReplaced = 0.05
    /// The share of the significance that a change must have in the images as they are.
    private static let leastRaw = 0.7
    /// The share of the weight of the flux that the other pixels must have to decide alone.
    private static let leastOthers = 0.5

    /// - Parameter flux: The flux of the point source, negative for one that vanished.
    init(flux: Double) { self.flux = flux }

    /// Adds a pixel.
    ///
    /// - Parameters:
    ///   - value: The value of the difference, above the level on which the source stands.
    ///   - shape: The share of a point's light in the pixel.
    ///   - variance: The variance of the value.
    ///   - unknown: The variance of the point source's own light there, because its shape is not known exactly.
    mutating func add(_ value: Double, x: Double, y: Double, shape: Double, variance: Double, unknown: Double) {
        let left = value - flux * shape
        let square = left * left / (variance + unknown)
        squares += square
        worst = max(worst, square)
        pixels.append(Pixel(x: x, y: y, value: value, shape: shape, variance: variance))
        light += value * shape / variance
        self.shape += shape * shape / variance
        othersLight += value * shape / variance
        othersShape += shape * shape / variance
    }

    /// Adds a pixel, with its original value, that was replaced in one image because it is sharper than stars.
    mutating func addReplaced(_ value: Double, shape: Double, variance: Double) {
        light += value * shape / variance
        self.shape += shape * shape / variance
        replaced += shape
    }

    /// Whether a narrower source explains the light better, as for a cosmic ray.
    ///
    /// - Parameter fwhm: The width of stars, in pixels.
    func isSharper(than fwhm: Double) -> Bool {
        guard fwhm >= Self.leastWidth else { return false }
        let narrow = explained(fwhm: Self.narrow * fwhm)
        return narrow > Self.advantage * explainedByStar && narrow > Self.advantage * explained(fwhm: fwhm)
    }

    /// How much a star at the peak lowers the sum of squares. The star has the shape of the image's stars, which may be
    /// elongated.
    private var explainedByStar: Double {
        let light = pixels.reduce(0) { $0 + $1.value * $1.shape / $1.variance }
        let shape = pixels.reduce(0) { $0 + $1.shape * $1.shape / $1.variance }
        return shape > 0 ? light * light / shape : 0
    }

    /// Whether the change comes from replaced pixels, so that the images as they are show none. This is the case for a hot
    /// pixel that both images have, and that was sharp enough to be replaced in only one of them.
    ///
    /// - Parameter significance: The significance of the change that was found.
    func isOfReplaced(significance: Double) -> Bool {
        guard replaced > Self.leastReplaced, shape > 0 else { return false }
        // If the other pixels show the point, the replaced one beside it does not matter: it is a hot pixel of one image alone,
        // whose light would count against the point.
        if othersShape >= Self.leastOthers * shape, othersLight / othersShape / flux >= Self.leastRaw { return false }
        let raw = light / shape.squareRoot()
        return (flux < 0 ? -raw : raw) < Self.leastRaw * abs(significance)
    }

    /// How much a Gaussian that the pixels average lowers the sum of squares, at the best place near the peak.
    private func explained(fwhm: Double) -> Double {
        // The measured width includes the width of a pixel.
        let sigma = max(fwhm * fwhm / (Gaussian.fwhm * Gaussian.fwhm) - 1.0 / 12, 0.04).squareRoot()
        let unit = 1 / (sigma * 2.0.squareRoot())
        func part(_ distance: Double) -> Double {
            (erf((distance + 0.5) * unit) - erf((distance - 0.5) * unit)) / 2
        }
        let places = Self.steps.map { Double($0) / 4 }
        let columns = places.map { place in pixels.map { part($0.x - place) } }
        let rows = places.map { place in pixels.map { part($0.y - place) } }
        var best = 0.0
        for column in columns {
            for row in rows {
                var (light, shape) = (0.0, 0.0)
                for (index, pixel) in pixels.enumerated() {
                    let share = column[index] * row[index]
                    light += pixel.value * share / pixel.variance
                    shape += share * share / pixel.variance
                }
                if light * flux > 0, shape > 0 { best = max(best, light * light / shape) }
            }
        }
        return best
    }
}
