import Glibc

/// How sharp a source's sharpest pixel is, which tells hot pixels and cosmic rays from light that came through the telescope.
///
/// Stars have a largest sharpness. Wherever in a pixel the centre of a Gaussian star of standard deviation s lies, the two
/// pixels on opposite sides of any pixel have on average at least exp(-1 / 2 s^2) of the light of that pixel. The same holds
/// for any sum of stars and of wider sources, and an average over a pixel's area is such a sum. A pixel that has r times as
/// much light as such a pair is sharper than all stars for which exp(1 / 2 s^2) is below r. The fainter one of its two pairs
/// counts, so that a track along a row is seen across it. (L.A.Cosmic, van Dokkum 2001, PASP 113, 1420, makes the same test
/// with a Laplacian and a limit that the user chooses.)
///
/// The width of the stars is known only when all sectors are done. Therefore a sector measures r, the largest value that noise
/// leaves no doubt about, and ``ImageFlags/judge(_:seeing:)`` compares it with the stars.
struct Sharpness {
    /// The pixels around the source.
    let view: SectorPixels.View
    let (width, height): (Int, Int)
    /// The noise of every pixel (1 sigma), if the view does not give each pixel its own.
    let noise: Double
    /// Electrons per unit of the image; 0 if it is unknown.
    let gain: Double

    /// The sharpness of a source that has no such pixel, or that cannot be judged.
    static let none = Source.noSharpness
    /// No value is larger: stars with a width of a third of a pixel have this one.
    static let largest = 1000.0

    /// The largest error of a pixel or of its neighbours that counts as noise, in units of its standard deviation. Of a million
    /// pixels of an image's sources, fewer than one has a larger error.
    private static let significance = 5.0
    /// A sharp pixel is at least this many times as bright as stars can make it. No detector is flatter than that, and the
    /// photons of the brightest stars scatter by more than the known noise.
    private static let excess = 1.1
    /// The variance of photons per unit of light in units of the noise, if the gain is not known: the value for a noise of
    /// seven electrons.
    private static let usualPhotons = 0.15

    /// - Parameters:
    ///   - footprint: The source's pixels.
    ///   - isSaturated: Whether any of them is saturated.
    /// - Returns: r, from ``none`` to ``largest``.
    func measure(_ footprint: ArraySlice<Int32>, isSaturated: Bool) -> Double {
        guard noise > 0, noise.isFinite else { return Self.none }
        // A pixel that is so little above the noise can be no sharper than the sky.
        let least = Float(Self.significance * (view.sigmas == nil ? noise : 0))
        var sharpest = Self.none
        for pixel in footprint {
            let index = Int(pixel)
            let value = view.values[index]
            guard value > least, view.mask[index] == 0, let beside = beside(index, isSaturated) else { continue }
            let (light, least) = (Double(value), Double(beside))
            // This test is enough for nearly all pixels.
            guard light > Self.excess * sharpest * least else { continue }
            sharpest = max(sharpest, ratio(light, least, sigma: sigma(index)))
        }
        return sharpest
    }

    /// The light beside a pixel; `nil` if the pixel has no pair of neighbours.
    ///
    /// Charge spills from saturated pixels along columns, in lines one pixel wide, and the end of such a line has light on one
    /// side only. So in a source with saturated pixels the brightest neighbour counts: a hot pixel has no bright one.
    private func beside(_ index: Int, _ isSaturated: Bool) -> Float? {
        let (x, y) = (index % width, index / width)
        let row = x > 0 && x < width - 1 ? pair(index - 1, index + 1, isSaturated) : nil
        let column = y > 0 && y < height - 1 ? pair(index - width, index + width, isSaturated) : nil
        if isSaturated {
            guard let row, let column else { return nil }
            return max(row, column)
        }
        guard let row, let column else { return row ?? column }
        return min(row, column)
    }

    /// The mean of two pixels, or the brighter of them; `nil` if one has no data.
    private func pair(_ one: Int, _ other: Int, _ brighter: Bool) -> Float? {
        guard view.mask[one] == 0, view.mask[other] == 0 else { return nil }
        let (one, other) = (view.values[one], view.values[other])
        return brighter ? max(one, other) : (one + other) / 2
    }

    /// The largest noise of a pixel and of its neighbours.
    private func sigma(_ index: Int) -> Double {
        guard let sigmas = view.sigmas else { return noise }
        var largest = sigmas[index]
        for other in [index - 1, index + 1, index - width, index + width] where (0..<width * height).contains(other) {
            largest = max(largest, sigmas[other])
        }
        return Double(largest)
    }

    /// The largest r for which a pixel is significantly above r times the light beside it. It is the smaller solution of
    ///
    ///     (v - b r)^2 = k^2 (n^2 (1 + r^2 / 2) + p v (1 + r / 2))
    ///
    /// where v is the light of the pixel, b the light beside it (the mean of two pixels), n the noise, and p the variance that
    /// photons add for each unit of light.
    private func ratio(_ light: Double, _ beside: Double, sigma: Double) -> Double {
        guard sigma > 0, sigma.isFinite, light.isFinite else { return Self.none }
        let beside = max(beside, 0)
        let square = Self.significance * Self.significance
        let photons = square * light * (gain > 0 ? 1 / gain : Self.usualPhotons * sigma)
        let constant = light * light - square * sigma * sigma - photons
        let linear = 2 * light * beside + photons / 2
        let quadratic = beside * beside - square * sigma * sigma / 2
        let root = (linear * linear - 4 * quadratic * constant).squareRoot()
        let solution = 2 * constant / (linear + root)
        guard constant > 0, solution.isFinite, solution > Self.none else { return Self.none }
        return min(solution, beside > 0 ? light / (Self.excess * beside) : Self.largest, Self.largest)
    }

    /// Stars may be narrower than the measured width by this factor, because no telescope's stars are the same all over an
    /// image.
    private static let narrowest = 0.75
    /// Stars of this sigma are as sharp as single pixels, and nothing is sharper.
    private static let smallestSigma = 0.3

    /// The sharpness that no star of an image reaches.
    ///
    /// - Parameter seeing: How wide the stars are. The width counts with its error to the star's advantage.
    static func limit(_ seeing: Seeing) -> Double {
        let sigma = max(narrowest * (seeing.fwhm - 2 * seeing.error) / Gaussian.fwhm, smallestSigma)
        return exp(1 / (2 * sigma * sigma))
    }
}
