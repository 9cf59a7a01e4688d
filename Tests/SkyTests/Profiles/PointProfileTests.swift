import Glibc
import Testing

@testable import Sky

@Suite struct PointProfileTests {
    private func painted(_ profile: any PointProfile, flux: Double = 1e6) -> PixelCanvas {
        var canvas = PixelCanvas(width: 121, height: 121)
        profile.paint(x: 60.3, y: 59.8, flux: flux, floor: 1e-3, on: &canvas)
        return canvas
    }

    @Test(arguments: StarProfile.allCases, [1.2, 3.2])
    func `a star of any profile holds its flux and its place`(profile: StarProfile, fwhm: Double) {
        let canvas = painted(profile.point(fwhm: fwhm))
        var (sum, x, y) = (0.0, 0.0, 0.0)
        for (index, pixel) in canvas.pixels.enumerated() {
            sum += Double(pixel)
            x += Double(pixel) * Double(index % 121)
            y += Double(pixel) * Double(index / 121)
        }
        #expect(abs(sum / 1e6 - 1) < 0.02)
        #expect(abs(x / sum - 60.3) < 0.02)
        #expect(abs(y / sum - 59.8) < 0.02)
    }

    @Test func `a Gaussian has the width that its name says`() {
        let canvas = painted(GaussianProfile(fwhm: 4.71))
        var (sum, square) = (0.0, 0.0)
        for (index, pixel) in canvas.pixels.enumerated() {
            let dx = Double(index % 121) - 60.3
            sum += Double(pixel)
            square += Double(pixel) * dx * dx
        }
        // The pixels widen it by the variance of a unit box.
        #expect(abs(square / sum - (4.0 + 1.0 / 12)) < 0.01)
        #expect(abs(sum / 1e6 - 1) < 1e-4)
    }

    @Test func `a Gaussian's noise-equivalent area is 4 pi sigma squared`() {
        let profile = GaussianProfile(fwhm: 8)
        #expect(abs(profile.noiseEquivalentArea / (4 * .pi * profile.sigma * profile.sigma) - 1) < 0.02)
        #expect(GaussianProfile(fwhm: 3.2).noiseEquivalentArea < MoffatProfile(fwhm: 3.2).noiseEquivalentArea)
    }

    @Test(arguments: StarProfile.allCases)
    func `the noise-equivalent area is that of what is painted`(profile: StarProfile) {
        let point = profile.point(fwhm: 3.2)
        var canvas = PixelCanvas(width: 121, height: 121)
        point.paint(x: 60, y: 60, flux: 1, floor: 1e-9, on: &canvas)
        let squares = canvas.pixels.reduce(0.0) { $0 + Double($1) * Double($1) }
        #expect(abs(point.noiseEquivalentArea * squares - 1) < 0.01)
    }

    @Test func `galaxies are blurred by the profile of the stars`() {
        var galaxy = TruthSource(
            kind: .galaxy, x: 61, y: 61, alpha: 0, delta: 0, magnitude: 0, flux: 1e6, signalToNoise: 0)
        galaxy.radius = 1e-3
        galaxy.sersicIndex = 1
        let point = GaussianProfile(fwhm: 3.2)
        var canvas = PixelCanvas(width: 121, height: 121)
        GalaxyProfile.exponential.paint(galaxy, x: 60, y: 60, seeing: point.mixture, floor: 1e-3, on: &canvas)
        var star = PixelCanvas(width: 121, height: 121)
        point.paint(x: 60, y: 60, flux: 1e6, floor: 1e-3, on: &star)
        // A galaxy without size is a star.
        let centre = 60 * 121 + 60
        #expect(abs(canvas.pixels[centre] / star.pixels[centre] - 1) < 0.01)
    }

    @Test func `a point on or beyond the frame's edge traps nothing`() {
        for profile in StarProfile.allCases {
            var canvas = PixelCanvas(width: 16, height: 16)
            for place in [-1e9, -3, 0, 15, 18, 1e9] {
                profile.point(fwhm: 3).paint(x: place, y: 7, flux: 1e12, floor: 1e-3, on: &canvas)
            }
            #expect(canvas.pixels.allSatisfy { $0.isFinite })
        }
    }
}
