import Base
import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct PointFitTests {
    /// The fit of what some light looks like in noise of one.
    ///
    /// - Parameter light: of a pixel, counted from the peak.
    private func fit(
        flux: Double, fwhm: Double, _ random: inout SplitMix64, _ light: (_ x: Double, _ y: Double) -> Double
    ) -> PointFit {
        var fit = PointFit(flux: flux)
        let reach = max(Int(fwhm.rounded()), 2)
        for y in -reach...reach {
            for x in -reach...reach {
                let (x, y) = (Double(x), Double(y))
                fit.add(
                    light(x, y) + random.normal(), x: x, y: y, shape: Self.star(x, y, fwhm: fwhm), variance: 1,
                    unknown: 0)
            }
        }
        return fit
    }

    private static func star(_ x: Double, _ y: Double, fwhm: Double) -> Double {
        let sigma = fwhm / Gaussian.fwhm
        return exp(-(x * x + y * y) / (2 * sigma * sigma)) / (2 * .pi * sigma * sigma)
    }

    /// What a star of such a width has to be as bright as for a signal to noise.
    private func flux(_ signalToNoise: Double, fwhm: Double) -> Double {
        signalToNoise * (4 * .pi).squareRoot() * fwhm / Gaussian.fwhm
    }

    @Test(arguments: [2.0, 2.9, 4.5, 7.0], [1.0, -1])
    func `stars are not called sharp, wherever in a pixel they lie`(fwhm: Double, sign: Double) {
        var random = SplitMix64(seed: 11)
        for (signalToNoise, most) in [(5.0, 10), (8, 2), (20, 0), (100, 0)] {
            let flux = sign * flux(signalToNoise, fwhm: fwhm)
            var sharp = 0
            for _ in 0..<100 {
                let (dx, dy) = (
                    Double.random(in: -0.5...0.5, using: &random), Double.random(in: -0.5...0.5, using: &random)
                )
                let fit = fit(flux: flux, fwhm: fwhm, &random) { flux * Self.star($0 - dx, $1 - dy, fwhm: fwhm) }
                if fit.isSharper(than: fwhm) { sharp += 1 }
            }
            #expect(sharp <= most, "\(sharp) of 100 at \(signalToNoise)")
        }
    }

    @Test(arguments: [1, 2, 3]) func `cosmic rays of one to three pixels are called sharp`(length: Int) {
        var random = SplitMix64(seed: 12)
        for signalToNoise in [6.0, 12, 50] {
            // The flux is that of a star with the same signal to noise in a matched filter.
            let flux = flux(signalToNoise, fwhm: 2.9)
            var sharp = 0
            for _ in 0..<200 {
                let height = flux * Self.star(0, 0, fwhm: 2.9) * 5 / Double(length)
                let fit = fit(flux: flux, fwhm: 2.9, &random) { x, y in
                    y == 0 && x >= 0 && x < Double(length) ? height : 0
                }
                if fit.isSharper(than: 2.9) { sharp += 1 }
            }
            #expect(sharp >= (length == 3 ? 100 : 180), "\(sharp) of 200 at \(signalToNoise)")
        }
    }

    @Test func `nothing is called sharp if stars hardly cover a pixel`() {
        var random = SplitMix64(seed: 13)
        let fit = fit(flux: 50, fwhm: 2.9, &random) { x, y in x == 0 && y == 0 ? 50 : 0 }
        #expect(!fit.isSharper(than: 1.5) && fit.isSharper(than: 2.9))
    }

    @Test func `a pixel that was replaced in only one image is not a change`() {
        var random = SplitMix64(seed: 14)
        func fit(_ sign: Double, hidden: Double) -> PointFit {
            var fit = PointFit(flux: sign * 40)
            for y in -3...3 {
                for x in -3...3 {
                    let shape = Self.star(Double(x), Double(y), fwhm: 2.9)
                    if x == 0 && y == 0 {
                        fit.addReplaced(sign * hidden * shape, shape: shape, variance: 1)
                    } else {
                        let light = hidden > 0 ? 40 * shape : 0
                        fit.add(
                            sign * light + 0.3 * random.normal(), x: Double(x), y: Double(y), shape: shape, variance: 1,
                            unknown: 0)
                    }
                }
            }
            return fit
        }
        let significance = 40 / ((4 * .pi).squareRoot() * 2.9 / Gaussian.fwhm)
        for sign in [1.0, -1] {
            #expect(fit(sign, hidden: 0).isOfReplaced(significance: sign * significance))
            #expect(!fit(sign, hidden: 40).isOfReplaced(significance: sign * significance))
        }
        var whole = PointFit(flux: 40)
        whole.add(0, x: 0, y: 0, shape: 0.1, variance: 1, unknown: 0)
        #expect(!whole.isOfReplaced(significance: 9), "nothing was taken out")
    }

    @Test func `a fit without pixels says nothing, and does not divide by zero`() {
        let fit = PointFit(flux: 3)
        #expect(fit.misfit == 0 && fit.worst == 0 && !fit.isSharper(than: 3) && !fit.isOfReplaced(significance: 9))
    }

    /// A star, and pixels of a hot pixel two pixels beside it that were replaced in the old image: what they were counts against it.
    @Test func `pixels replaced beside a star in only one image do not hide the star`() {
        var random = SplitMix64(seed: 13)
        let flux = flux(50, fwhm: 3)
        var (star, bare) = (
            fit(flux: flux, fwhm: 3, &random) { flux * Self.star($0, $1, fwhm: 3) },
            fit(flux: flux, fwhm: 3, &random) { _, _ in 0 }
        )
        for (x, y) in [(2.0, 0.0), (2, 1), (1, 0), (1, 1)] {
            let shape = Self.star(x, y, fwhm: 3)
            star.addReplaced(-8 * flux * shape, shape: shape, variance: 1)
            // All of this one's light is a hot pixel that the other image has too.
            bare.addReplaced(0.2 * flux * shape, shape: shape, variance: 1)
        }
        #expect(!star.isOfReplaced(significance: 50))
        #expect(bare.isOfReplaced(significance: 50))
    }
}
