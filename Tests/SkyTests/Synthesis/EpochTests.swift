import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct EpochTests {
    private func recipe(_ change: (inout SkySynthesis) -> Void = { _ in }) -> SkySynthesis {
        var recipe = SkySynthesis()
        recipe.width = 160
        recipe.height = 128
        recipe.seed = 21
        recipe.epochs = 4
        recipe.stars = 60
        recipe.galaxies = 10
        change(&recipe)
        return recipe
    }

    private func real(_ keyword: String, _ frame: SyntheticSky) -> Double {
        guard case .real(let value)? = frame.header.first(where: { $0.keyword == keyword })?.value else { return .nan }
        return value
    }

    /// Two rows of each id that is in both.
    private func pairs(_ one: SyntheticSky, _ other: SyntheticSky) -> [(TruthSource, TruthSource)] {
        let known = Dictionary(uniqueKeysWithValues: other.truth.map { ($0.id, $0) })
        return one.truth.compactMap { source in known[source.id].map { (source, $0) } }
    }

    @Test func `epochs are reproducible and their noise is not the same`() {
        let recipe = recipe {
            ($0.dither, $0.stars, $0.galaxies) = (0, 0, 0)
        }
        let (first, second) = (recipe.render(epoch: 1), recipe.render(epoch: 2))
        #expect(first.pixels == recipe.render(epoch: 1).pixels)
        #expect(first.truth == recipe.render(epoch: 1).truth)
        let scale = real("SKYLEVEL", second) / real("SKYLEVEL", first)
        var (product, square) = (0.0, 0.0)
        for (a, b) in zip(first.pixels, second.pixels) {
            let (a, b) = (Double(a) * scale - real("SKYLEVEL", second), Double(b) - real("SKYLEVEL", second))
            product += a * b
            square += b * b
        }
        // The gradient is common to both: without it they would have nothing in common.
        #expect(product / square < 0.8)
        let flat = self.recipe {
            ($0.gradient, $0.stars, $0.galaxies) = (0, 0, 0)
        }
        let noise = (1...2).map { epoch in
            let frame = flat.render(epoch: epoch)
            return frame.pixels.map { Double($0) - real("SKYLEVEL", frame) }
        }
        let correlation = zip(noise[0], noise[1]).reduce(0) { $0 + $1.0 * $1.1 } / noise[0].reduce(0) { $0 + $1 * $1 }
        #expect(abs(correlation) < 0.05)
    }

    @Test func `a source keeps its id, its kind and its place in the sky`() {
        let frames = (0..<4).map { recipe().render(epoch: $0) }
        for frame in frames {
            #expect(Set(frame.truth.map(\.id)).count == frame.truth.count)
            #expect(frame.truth.allSatisfy { 0.5..<160.5 ~= $0.x && 0.5..<128.5 ~= $0.y && $0.id > 0 })
            // The density is that of a single frame, whatever the pointing.
            #expect(abs(Double(frame.truth.count) - 70) < 35)
        }
        for (one, other) in pairs(frames[0], frames[3]) {
            #expect(one.kind == other.kind && one.magnitude == other.magnitude)
            #expect(abs(one.alpha - other.alpha) < 1e-9 && abs(one.delta - other.delta) < 1e-9)
            #expect(one.x != other.x)
        }
        #expect(pairs(frames[0], frames[3]).count > 40)
    }

    @Test func `each epoch has its own right WCS`() throws {
        let folder = ScratchFolder()
        let recipe = recipe {
            ($0.movers, $0.transients) = (10, 10)
        }
        for epoch in 0..<recipe.epochs {
            let path = recipe.path(of: epoch, for: folder.file("a.fits"))
            try recipe.render(epoch: epoch).write(to: path)
            let truth = try TruthCatalogue.read(TruthCatalogue.path(beside: path))
            let wcs = try #require(try FITSImage(path: path, hdu: nil).wcs)
            for source in truth {
                let sky = try #require(wcs.sky(x: source.x, y: source.y))
                let east = (sky.alpha - source.alpha) * cos(source.delta * .pi / 180)
                let pixels = hypot(east, sky.delta - source.delta) * 3600 / recipe.pixelScale
                #expect(pixels < 0.01)
            }
        }
        #expect(folder.names.filter { $0.hasSuffix(".fits") } == (0..<4).map { "a_e\($0).fits" })
        #expect(folder.names.filter { $0.hasSuffix(".csv") } == (0..<4).map { "a_e\($0)_truth.csv" })
    }

    @Test func `the pointings scatter as the dither says and the first is the recipe's`() {
        let recipe = recipe {
            ($0.width, $0.height, $0.epochs, $0.dither) = (400, 400, 300, 20)
        }
        let all = (0..<300).map { EpochConditions(recipe, epoch: $0) }
        #expect(all[0].dither == (0, 0) && all[0].turn == 0 && all[0].extinction == 0)
        let square = all.dropFirst().map { $0.dither.x * $0.dither.x }.reduce(0, +) / 299
        #expect(abs(square.squareRoot() - 20) < 2)
        #expect(all.allSatisfy { abs($0.dither.x) < 35 && abs($0.dither.y) < 35 })
        #expect(Set(all.dropFirst().map(\.seeing)).count == 299)
    }

    @Test func `transparency and seeing change fluxes and widths as the header says`() throws {
        let recipe = recipe {
            ($0.stars, $0.galaxies, $0.dither, $0.brightest, $0.faintest) = (300, 0, 1, 10, 14)
            ($0.width, $0.height, $0.saturation) = (400, 300, 0)
        }
        let (first, later) = (recipe.render(epoch: 0), recipe.render(epoch: 2))
        let dimming = pow(10, -0.4 * (25 - real("MAGZERO", later)))
        #expect(dimming < 1 && dimming > 0.7)
        #expect(real("FWHM", first) == 3.2 && real("FWHM", later) != 3.2)
        let both = pairs(first, later)
        #expect(both.count > 100)
        for (one, other) in both {
            #expect(abs(other.flux / one.flux / dimming - 1) < 1e-9)
        }
        // Almost all of the light above the sky is the stars': its sum follows too.
        func light(_ frame: SyntheticSky) -> Double {
            frame.pixels.reduce(0) { $0 + Double($1) } - real("SKYLEVEL", frame) * 400 * 300
        }
        let expected = later.truth.reduce(0) { $0 + $1.flux } / first.truth.reduce(0) { $0 + $1.flux }
        #expect(abs(light(later) / light(first) / expected - 1) < 0.02)
    }

    @Test func `the frames say when they were taken`() {
        let frame = recipe { $0.interval = 5400.25 }.render(epoch: 3)
        #expect(abs(real("MJD-OBS", frame) - 60_310.25 - 3 * 5400.25 / 86_400) < 1e-9)
        #expect(frame.header.first { $0.keyword == "DATE-OBS" }?.value == .text("2024-01-01T10:30:00.750"))
        #expect(ObservingTime(seconds: 86_400 * 60 + 0.0004).date == "2024-03-01T06:00:00.000")
        #expect(ObservingTime(seconds: .nan).date == "2024-01-01T06:00:00.000")
    }

    @Test func `one epoch is a single frame, and its names stay as they are`() {
        let single = recipe { $0.epochs = 1 }
        #expect(single.path(of: 0, for: "night/a.fits") == "night/a.fits")
        #expect(recipe().path(of: 2, for: "night/a.FIT") == "night/a_e2.FIT")
        #expect(recipe().path(of: 2, for: "a") == "a_e2")
        #expect(recipe().path(of: 2, for: "") == "" && recipe().path(of: 2, for: "night/") == "night/")
        let frame = single.render()
        #expect(!frame.truth.isEmpty && frame.truth.allSatisfy { $0.id == 0 })
        #expect(!frame.header.contains { ["DATE-OBS", "EXPNUM", "NCOSMIC"].contains($0.keyword) })
    }

    @Test func `galaxies turn with the camera`() throws {
        let recipe = recipe { $0.galaxies = 40 }
        let (first, later) = (recipe.render(epoch: 0), recipe.render(epoch: 1))
        let turn = EpochConditions(recipe, epoch: 1).turn
        let galaxies = pairs(first, later).filter { $0.0.kind == .galaxy }
        #expect(galaxies.count > 10)
        for (one, other) in galaxies where 1...179 ~= one.angle {
            #expect(abs(other.angle - one.angle + turn) < 1e-9)
        }
        // Positions turn by the same: what a pair of stars shows.
        let stars = pairs(first, later).filter { $0.0.kind == .star }
        let (a, b) = (stars[0], stars[1])
        let before = atan2(b.0.y - a.0.y, b.0.x - a.0.x) * 180 / .pi
        let after = atan2(b.1.y - a.1.y, b.1.x - a.1.x) * 180 / .pi
        #expect(abs(after - before + turn) < 1e-6)
    }
}
