import Glibc

/// How sharp a source's sharpest pixel is, which tells hot pixels and cosmic rays from light that came through the telescope.
///
/// A Gaussian star of standard deviation s has, wherever in a pixel its centre is, in the two pixels on opposite sides of another on
/// average at least exp(-1 / 2 s^2) of what that one has; so has any sum of stars and of what is wider, and an average over a pixel's
/// area is such a sum. A pixel that has r times as much as such a pair is sharper than all stars for which exp(1 / 2 s^2) is
/// below r. Of its two pairs the fainter is asked, so that a track along a row is seen across it. (L.A.Cosmic, van
/// Dokkum 2001, PASP 113, 1420, asks the same by a Laplacian, with a limit to be chosen.)
///
/// How wide stars are is known when all sectors are done. Therefore a sector measures r, the largest that noise leaves no doubt about, and
/// ``ImageFlags/judge(_:seeing:)`` compares it with the stars.
struct Sharpness {
    /// The pixels around the source.
    let view: SectorPixels.View
    let (width, height): (Int, Int)
    /// Of every pixel (1 sigma), where the view does not say each one's.
    let noise: Double
    /// Electrons per unit of the image; 0 where unknown.
    let gain: Double

    /// Of a source without such a pixel, or of one that nothing can be said about.
    static let none = 1.0
    /// Nothing is called sharper: stars of a third of a pixel are.
    static let largest = 1000.0

    /// What noise may add to a pixel, or take from its neighbours, in units of its standard deviation: of a million pixels of an
    /// image's sources less than one has more.
    private static let significance = 5.0
    /// How much brighter than stars can make it a pixel is at least: no detector is as flat, and photons of the brightest stars scatter
    /// by more than anyone knows.
    private static let excess = 1.1
    /// Photons' variance per unit of light in units of the noise, where the gain is not known: as if that were of seven electrons.
    private static let usualPhotons = 0.15

    /// - Parameters:
    ///   - footprint: The source's pixels.
    ///   - isSaturated: Whether any of them is saturated.
    /// - Returns: r, from ``none`` to ``largest``.
    func measure(_ footprint: ArraySlice<Int32>, isSaturated: Bool) -> Double {
        guard noise > 0, noise.isFinite else { return Self.none }
        // What stands so little above the noise can be no sharper than the sky.
        let least = Float(Self.significance * (view.sigmas == nil ? noise : 0))
        var sharpest = Self.none
        for pixel in footprint {
            let index = Int(pixel)
            let value = view.values[index]
            guard value > least, view.mask[index] == 0, let beside = beside(index, isSaturated) else { continue }
            let (light, least) = (Double(value), Double(beside))
            // Of nearly all pixels that is all that has to be asked.
            guard light > Self.excess * sharpest * least else { continue }
            sharpest = max(sharpest, ratio(light, least, sigma: sigma(index)))
        }
        return sharpest
    }

    /// What a pixel has beside it; `nil` where it has no pair of neighbours.
    ///
    /// Charge spills from saturated pixels along columns, in lines a pixel wide, and such a line's end has light on one side only. In a
    /// source with saturated pixels the brightest neighbour is asked: a hot pixel has none.
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

    /// The mean of two pixels, or the brighter; `nil` where one has no data.
    private func pair(_ one: Int, _ other: Int, _ brighter: Bool) -> Float? {
        guard view.mask[one] == 0, view.mask[other] == 0 else { return nil }
        let (one, other) = (view.values[one], view.values[other])
        return brighter ? max(one, other) : (one + other) / 2
    }

    /// The largest noise of a pixel and of those beside it.
    private func sigma(_ index: Int) -> Double {
        guard let sigmas = view.sigmas else { return noise }
        var largest = sigmas[index]
        for other in [index - 1, index + 1, index - width, index + width] where (0..<width * height).contains(other) {
            largest = max(largest, sigmas[other])
        }
        return Double(largest)
    }

    /// The largest r for which a pixel is significantly above r times what is beside it: the smaller solution of
    ///
    ///     (v - b r)^2 = k^2 (n^2 (1 + r^2 / 2) + p v (1 + r / 2))
    ///
    /// of light v and b, noise n, and photons that add p to the variance for each unit of light; that beside is the mean of two.
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

    /// Stars of this part of the measured width are thought possible: no telescope's are the same all over an image.
    private static let narrowest = 0.75
    /// Stars are as sharp as pixels then: nothing is sharper.
    private static let smallestSigma = 0.3

    /// What no star of an image has.
    ///
    /// - Parameter seeing: How wide stars are; what its error leaves open speaks for the star.
    static func limit(_ seeing: Seeing) -> Double {
        let sigma = max(narrowest * (seeing.fwhm - 2 * seeing.error) / Gaussian.fwhm, smallestSigma)
        return exp(1 / (2 * sigma * sigma))
    }
}
