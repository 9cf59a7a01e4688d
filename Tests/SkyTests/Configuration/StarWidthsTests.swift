import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct StarWidthsTests {
    private func widths(_ values: [Float]) -> StarWidths {
        StarWidths(
            merging: values.map {
                var part = StarWidths([])
                part.values = [$0]
                return part
            })
    }

    @Test func `the width of the stars is found among other sources`() throws {
        let stars: [Float] = [3.0, 3.02, 2.98, 3.01, 3.0, 2.99]
        let seeing = try #require(widths(stars + [1.1, 9, 12, 7, 20]).seeing)
        #expect(abs(seeing.fwhm - 3) < 0.02 && seeing.error < 0.02 && seeing.stars == 6)
        #expect(widths(stars).seeing == widths(stars.reversed()).seeing)
    }

    /// In a deep field galaxies are many, and more of one width than there are stars.
    @Test func `a few stars among many galaxies are the narrow edge`() throws {
        var random = RandomStream(seed: 5, purpose: 5)
        let stars = (0..<12).map { _ in Float(2.5 + 0.05 * random.normal()) }
        let galaxies = (0..<300).map { _ in Float(3.5 * exp(0.8 + 0.35 * random.normal())) }
        let seeing = try #require(widths(stars + galaxies.filter { $0 > 3 }).seeing)
        #expect(abs(seeing.fwhm - 2.5) < 0.1)
        #expect((8...16).contains(seeing.stars) && seeing.isClear)
    }

    @Test func `a field of only galaxies gives no width, or a doubtful one`() {
        var random = RandomStream(seed: 6, purpose: 5)
        let fields = (0..<100).map { _ in
            widths((0..<150).map { _ in Float(4.5 * exp(0.35 * random.normal())) })
        }
        #expect(fields.count { $0.seeing.map { $0.doubt == nil } ?? false } <= 2)
    }

    /// Cosmic rays are narrow, and of all widths.
    @Test func `a few narrower sources are not taken for the stars`() throws {
        var random = RandomStream(seed: 7, purpose: 5)
        let stars = (0..<100).map { _ in Float(3 + 0.1 * random.normal()) }
        let rays = (0..<12).map { Float(1.2 + 0.09 * Double($0)) }
        #expect(abs(try #require(widths(stars + rays).seeing).fwhm - 3) < 0.1)
    }

    @Test func `a doubtful width has a reason`() {
        #expect(Seeing(fwhm: 2.5, error: 0.02, stars: 100).doubt == nil)
        #expect(Seeing(fwhm: 2.5, error: 0.02, stars: 6).doubt?.contains("6 stars") == true)
        #expect(Seeing(fwhm: 2.5, error: 0.3, stars: 100).doubt?.contains("uncertain") == true)
        #expect(Seeing(fwhm: 1.2, error: 0.02, stars: 100).doubt?.contains("hot pixels") == true)
        #expect(Seeing(fwhm: 20, error: 0.02, stars: 100).doubt?.contains("focus") == true)
        #expect(Seeing(given: 20).doubt == nil)
    }

    @Test func `the widths of two images come from their common stars`() throws {
        func source(_ fwhm: Double) -> Source {
            var source = Source(x: 1, y: 1, sector: 0)
            (source.fwhm, source.a, source.b, source.fluxAuto, source.fluxErrorAuto) = (fwhm, 1.3, 1.25, 1000, 10)
            return source
        }
        // One night is better: the galaxies of the one are as wide as the stars of the other.
        let stars = (0..<20).map { (source(2 + 0.005 * Double($0)), source(3 + 0.005 * Double($0))) }
        let galaxies = (0..<60).map { (source(3 + 0.05 * Double($0)), source(3.8 + 0.05 * Double($0))) }
        let both = try #require(StarWidths.seeing(of: stars + galaxies))
        #expect(abs(both.first.fwhm - 2.05) < 0.05 && abs(both.second.fwhm - 3.05) < 0.05)
        #expect(StarWidths.seeing(of: Array(stars.prefix(3))) == nil)
        // All galaxies differ, and too few stars stand out: the image with a known width decides for both.
        let few =
            Array(stars.prefix(4)) + (0..<12).map { (source(2.3 + 0.2 * Double($0)), source(3.3 + 0.2 * Double($0))) }
        let known = StarWidths.seeing(of: few, alone: (nil, Seeing(fwhm: 3, error: 0.02, stars: 12)))
        #expect(abs((known?.first.fwhm ?? 0) - 2) < 0.1)
    }

    @Test(arguments: [(500, 300), (1024, 1024), (1500, 900), (2048, 2048), (10_000, 9000), (1, 1)])
    func `stars are sampled where the image's size says`(width: Int, height: Int) {
        let samples = StarWidths.samples(width: width, height: height)
        #expect((1...4).contains(samples.count))
        let image = PixelRect(x: 0, y: 0, width: width, height: height)
        #expect(samples.allSatisfy { image.contains($0) && $0.width <= 1024 && $0.height <= 1024 })
        let area = samples.reduce(0) { $0 + $1.area }
        // All of a small image, and no pixel twice.
        #expect(area == min(width, 2048) * min(height, 2048))
    }

    @Test func `too few stars give the usual filter`() {
        #expect(widths([3, 3, 3, 3]).seeing == nil)
        #expect(widths([3, 3, 3, 3]).filter == .pyramid)
        #expect(widths([]).filter == .pyramid)
        #expect(widths([1, 2, 4, 8, 16, 32, 64]).seeing == nil, "no two agree")
    }

    @Test func `a width beyond the filters becomes the nearest possible one`() {
        #expect(widths(Array(repeating: 40, count: 9)).filter == .gaussian(fwhm: 15))
        #expect(widths(Array(repeating: 0.1, count: 9)).filter == .gaussian(fwhm: 0.5))
        #expect(widths([1e-38, 1e-38, 1e-38, 1e-38, 1e-38, 3e38]).filter == .gaussian(fwhm: 0.5))
    }

    @Test func `only bright, isolated and round sources count as stars`() {
        func source(_ change: (inout Source) -> Void = { _ in }) -> Source {
            var source = Source(x: 1, y: 1, sector: 0)
            (source.fwhm, source.a, source.b, source.fluxAuto, source.fluxErrorAuto) = (3, 1.3, 1.25, 1000, 10)
            change(&source)
            return source
        }
        #expect(StarWidths([source()]).values == [3])
        let others = [
            source { $0.flags = 2 }, source { $0.fwhm = 0 }, source { $0.b = 0.5 }, source { $0.fluxErrorAuto = 100 },
            source { $0.peak = 900 },
        ]
        #expect(StarWidths(others).values.isEmpty)
    }
}
