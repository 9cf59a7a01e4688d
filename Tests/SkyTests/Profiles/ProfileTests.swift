import Glibc
import Testing

@testable import Sky

@Suite struct ProfileTests {
    private func sum(_ canvas: PixelCanvas) -> Double { canvas.pixels.reduce(0) { $0 + Double($1) } }

    @Test func `a star holds its flux, its centroid and its width`() {
        var canvas = PixelCanvas(width: 201, height: 201)
        MoffatProfile(fwhm: 3.2).paint(x: 100.3, y: 99.8, flux: 1e6, floor: 1e-3, on: &canvas)
        var x = 0.0
        var y = 0.0
        for row in 0..<201 {
            for column in 0..<201 {
                let value = Double(canvas.pixels[row * 201 + column])
                x += value * Double(column)
                y += value * Double(row)
            }
        }
        #expect(abs(sum(canvas) / 1e6 - 1) < 2e-3)
        #expect(abs(x / sum(canvas) - 100.3) < 0.01)
        #expect(abs(y / sum(canvas) - 99.8) < 0.01)
    }

    @Test func `the profile is half its peak at half its width`() {
        let profile = MoffatProfile(fwhm: 4)
        let q = 1 + 4 / (profile.alpha * profile.alpha)
        #expect(abs(1 / (q * q * q) - 0.5) < 1e-12)
    }

    @Test func `the noise-equivalent area follows King's integral`() {
        // 1 / integral(I^2) = 5 pi alpha^2 / 4 for the exponent 3; pixels only widen it a little.
        let profile = MoffatProfile(fwhm: 8)
        let integral = 5 * Double.pi * profile.alpha * profile.alpha / 4
        #expect(abs(profile.noiseEquivalentArea / integral - 1) < 0.03)
    }

    @Test func `the Gaussians of the seeing have its flux and its peak`() {
        let profile = MoffatProfile(fwhm: 3)
        let shares = profile.mixture.map(\.share).reduce(0, +)
        let peak = profile.mixture.map { $0.share / (2 * .pi * $0.variance) }.reduce(0, +)
        #expect(abs(shares - 1) < 1e-8)
        #expect(abs(peak / profile.peak - 1) < 1e-7)
    }

    @Test(arguments: [GalaxyProfile.exponential.components, GalaxyProfile.deVaucouleurs.components])
    func `a galaxy holds half its light in its half-light radius`(components: [(share: Double, variance: Double)]) {
        let total = components.map(\.share).reduce(0, +)
        let half = components.map { $0.share * (1 - exp(-0.5 / $0.variance)) }.reduce(0, +)
        #expect(abs(total - 1) < 1e-5)
        #expect(abs(half - 0.5) < 1e-4)
    }

    @Test func `a disc falls off exponentially`() {
        func brightness(_ r: Double) -> Double {
            GalaxyProfile.exponential.components
                .map { $0.share / (2 * .pi * $0.variance) * exp(-0.5 * r * r / $0.variance) }.reduce(0, +)
        }
        for r in [0.2, 0.5, 1, 2, 3] {
            #expect(abs(brightness(r) / brightness(1) / exp(-1.67835 * (r - 1)) - 1) < 0.01, "at \(r)")
        }
    }

    @Test func `a galaxy keeps its flux and its angle`() {
        var galaxy = TruthSource(
            kind: .galaxy, x: 151, y: 151, alpha: 0, delta: 0, magnitude: 15, flux: 1e6, signalToNoise: 100)
        galaxy.radius = 8
        galaxy.axisRatio = 0.4
        galaxy.angle = 30
        var canvas = PixelCanvas(width: 301, height: 301)
        GalaxyProfile.exponential.paint(
            galaxy, x: 150, y: 150, seeing: MoffatProfile(fwhm: 3.2).mixture, floor: 1e-3, on: &canvas)
        var (xx, yy, xy) = (0.0, 0.0, 0.0)
        for row in 0..<301 {
            for column in 0..<301 {
                let value = Double(canvas.pixels[row * 301 + column])
                xx += value * Double((column - 150) * (column - 150))
                yy += value * Double((row - 150) * (row - 150))
                xy += value * Double((column - 150) * (row - 150))
            }
        }
        #expect(abs(sum(canvas) / 1e6 - 1) < 1e-3)
        #expect(abs(0.5 * atan2(2 * xy, xx - yy) * 180 / .pi - 30) < 0.1)
    }

    @Test func `a source beyond the edge leaves only what reaches the frame`() {
        var canvas = PixelCanvas(width: 32, height: 32)
        MoffatProfile(fwhm: 3).paint(x: -1, y: 40, flux: 1e5, floor: 1, on: &canvas)
        EllipticalGaussian(flux: 1e5, xx: 4, yy: 4, xy: 0).paint(x: 500, y: -500, floor: 1e-3, on: &canvas)
        #expect(canvas.pixels.allSatisfy { $0.isFinite && $0 >= 0 })
        #expect(sum(canvas) < 1e5 / 4)
    }
}
