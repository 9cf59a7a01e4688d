import Glibc

/// How well a point source explains what is left at a place where two images differ, and how well something narrower does.
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
    /// The largest of a single pixel.
    private(set) var worst = 0.0

    private let flux: Double
    private var squares = 0.0
    private var pixels: [Pixel] = []
    /// Sums of light times shape, and of the shape's square, both over the variance, of all pixels as they are in the images: also of
    /// those that were replaced because they are sharper than stars.
    private var light = 0.0
    private var shape = 0.0
    /// The same of the pixels that were not replaced.
    private var othersLight = 0.0
    private var othersShape = 0.0
    /// Share of the point's light that would be in the replaced pixels.
    private var replaced = 0.0

    /// Width of something narrower, as a share of a star's.
    private static let narrow = 0.6
    /// How much better it has to explain the light: nineteen of twenty stars of a real frame are below 1 at any brightness,
    /// cosmic rays between 1.3 and 5.
    private static let advantage = 1.1
    /// Stars that cover hardly more than a pixel have nothing narrower beside them, in pixels.
    private static let leastWidth = 1.8
    /// Where the point is looked for, in steps of a quarter of a pixel each way.
    private static let steps = -4...4
    /// With less of a point's light in them, replaced pixels do not decide what is found.
    private static let leastReplaced = 0.05
    /// Share of the significance that a change must have in the images as they are.
    private static let leastRaw = 0.7
    /// Share of what tells the flux that the other pixels must have to speak for it alone.
    private static let leastOthers = 0.5

    /// - Parameter flux: Of the point source, negative for one that is gone.
    init(flux: Double) { self.flux = flux }

    /// Takes in a pixel.
    ///
    /// - Parameters:
    ///   - value: of the difference, above the ground that the source stands on.
    ///   - shape: share of a point's light in the pixel.
    ///   - variance: of the value.
    ///   - unknown: variance of the point source's own light there, because its shape is not known exactly.
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

    /// Takes in a pixel whose light was replaced in one image because it is sharper than stars, as it was.
    mutating func addReplaced(_ value: Double, shape: Double, variance: Double) {
        light += value * shape / variance
        self.shape += shape * shape / variance
        replaced += shape
    }

    /// Whether something narrower explains the light better: a cosmic ray.
    ///
    /// - Parameter fwhm: How wide stars are, in pixels.
    func isSharper(than fwhm: Double) -> Bool {
        guard fwhm >= Self.leastWidth else { return false }
        let narrow = explained(fwhm: Self.narrow * fwhm)
        return narrow > Self.advantage * explainedByStar && narrow > Self.advantage * explained(fwhm: fwhm)
    }

    /// By how much a star as the image has them, which may be drawn out, lowers the sum of squares where the peak is.
    private var explainedByStar: Double {
        let light = pixels.reduce(0) { $0 + $1.value * $1.shape / $1.variance }
        let shape = pixels.reduce(0) { $0 + $1.shape * $1.shape / $1.variance }
        return shape > 0 ? light * light / shape : 0
    }

    /// Whether the change comes from replaced pixels: the images as they are show none. So it is with a hot pixel that both images have,
    /// and that was sharp enough to be replaced in one only.
    ///
    /// - Parameter significance: Of the change, as found.
    func isOfReplaced(significance: Double) -> Bool {
        guard replaced > Self.leastReplaced, shape > 0 else { return false }
        // Where the others show the point, what was replaced beside it is another matter: a hot pixel of one image alone, whose light
        // would count against the point.
        if othersShape >= Self.leastOthers * shape, othersLight / othersShape / flux >= Self.leastRaw { return false }
        let raw = light / shape.squareRoot()
        return (flux < 0 ? -raw : raw) < Self.leastRaw * abs(significance)
    }

    /// The same of a Gaussian that the pixels have averaged, wherever near the peak it is best.
    private func explained(fwhm: Double) -> Double {
        // The measured width has that of a pixel in it.
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
