import Base
import Fixtures
import Testing

@testable import Sky

@Suite struct SectorScanTests {
    let folder = TemporaryFolder()

    private func scan(_ path: String, _ configuration: ScanConfiguration) throws -> Catalogue {
        let engine = SkyEngine()
        let file = ImageReference(path: path, hdu: configuration.hdu)
        let info = try engine.inspect(path: path, hdu: configuration.hdu)
        let sectors = try SectorGrid(info: info, configuration: configuration).sectors
        let tiles = try sectors.map { try engine.background(in: file, sector: $0, configuration: configuration) }
        let map = try BackgroundMap(tiles: tiles, info: info, configuration: configuration)
        let results = try sectors.map {
            try engine.extract(in: file, sector: $0, background: map, configuration: configuration)
        }
        let joined = try SectorUnion.unions(of: results, sectors: sectors, info: info).map {
            try engine.join(in: file, union: $0, background: map, configuration: configuration)
        }
        return Catalogue(merging: results.reversed(), joined: joined, info: info)
    }

    private func configuration(sector: Int?, margin: Int = 64) -> ScanConfiguration {
        var configuration = ScanConfiguration()
        configuration.sectorSize = sector
        configuration.margin = margin
        configuration.meshSize = 32
        return configuration
    }

    private func withoutSector(_ sources: [Source]) -> [Source] {
        sources.map { source in
            var source = source
            source.sector = 0
            return source
        }
    }

    private func crowdedFrame() -> TestFrame {
        var frame = TestFrame(width: 260, height: 230, seed: 11)
        frame.addStars(260)
        // A galaxy over several sectors, blended with stars, and a hole.
        frame.addStar(x: 128, y: 120, flux: 400_000, sigma: 14, flattening: 0.6)
        for step in 0..<6 { frame.addStar(x: 96 + Double(step) * 12, y: 118, flux: 9000) }
        frame.erase(PixelRect(x: 40, y: 150, width: 30, height: 20))
        return frame
    }

    @Test func `sectors of any size give the catalogue of the whole image, to the last bit`() throws {
        let path = folder.write(crowdedFrame().fits())
        let whole = try scan(path, configuration(sector: nil))
        #expect(whole.sources.count > 100)
        #expect(whole.sources.count { $0.flags & 2 != 0 } > 20)
        for (size, margin) in [(64, 64), (128, 32), (128, 0)] {
            let parts = try scan(path, configuration(sector: size, margin: margin))
            #expect(parts.truncatedSources == 0)
            #expect(
                withoutSector(parts.sources) == withoutSector(whole.sources), "sectors of \(size), margin \(margin)")
        }
    }

    @Test(arguments: [DetectionFilter.none, .gaussian(fwhm: 3.3)])
    func `sectors of any size agree with any filter`(filter: DetectionFilter) throws {
        let path = folder.write(crowdedFrame().fits())
        func scanned(_ size: Int?) throws -> [Source] {
            var configuration = configuration(sector: size)
            configuration.filter = filter
            configuration.thresholdUnit = .filtered
            configuration.threshold = 5
            configuration.minimumArea = 1
            configuration.apertureDiameters = [4, 20]
            configuration.saturation = 3000
            return withoutSector(try scan(path, configuration).sources)
        }
        let whole = try scanned(nil)
        #expect(whole.count > 80)
        #expect(try scanned(128) == whole)
    }

    @Test func `a source's position, flux and shape are measured correctly`() throws {
        var frame = TestFrame(width: 128, height: 128, seed: 3)
        frame.addStar(x: 60.3, y: 70.6, flux: 50_000)
        let catalogue = try scan(folder.write(frame.fits()), configuration(sector: nil))
        let source = try #require(catalogue.sources.max { $0.fluxAuto < $1.fluxAuto })
        #expect(abs(source.x - 61.3) < 0.02 && abs(source.y - 71.6) < 0.02)
        #expect(abs(source.fluxAuto / 50_000 - 1) < 0.03)
        #expect(abs(source.fluxesAperture[0] / 50_000 - 1) < 0.02)
        // Half of a Gaussian lies within 1.177 sigma.
        #expect(abs(source.halfLightRadius - 1.177 * 1.4) < 0.1)
        #expect(source.a / source.b < 1.1)
        #expect(abs(source.xWindow - 61.3) < 0.01 && abs(source.yWindow - 71.6) < 0.01)
        // 2.355 sigma, a little more for the width of a pixel.
        #expect(abs(source.fwhm - 2.355 * 1.4) < 0.15)
        #expect(abs(source.background - (500 + 0.2 * 60 + 0.1 * 71)) < 1)
        #expect(abs(source.threshold - 1.5 * 5) < 1)
        #expect(source.flags == 0)
    }

    @Test func `apertures leave out light above the threshold that is not a source`() throws {
        func aperture(speck: Bool) throws -> Source {
            var frame = TestFrame(width: 160, height: 160, seed: 3)
            frame.addStar(x: 80, y: 80, flux: 20_000)
            // Three pixels and what the filter makes of them are too few for a source of twenty.
            if speck { for x in 90...92 { frame.pixels[80 * 160 + x] += 900 } }
            var configuration = configuration(sector: nil)
            (configuration.apertureDiameters, configuration.minimumArea) = ([30], 20)
            let sources = try scan(folder.write(frame.fits()), configuration).sources
            #expect(sources.count == 1)
            return try #require(sources.first)
        }
        let (alone, beside) = (try aperture(speck: false), try aperture(speck: true))
        #expect(abs(beside.fluxesAperture[0] - alone.fluxesAperture[0]) < 150)
        #expect(abs(beside.kronRadius - alone.kronRadius) < 0.3)
    }

    @Test func `an aperture that reaches beyond the image is flagged`() throws {
        var frame = TestFrame(width: 160, height: 160, seed: 3)
        for (x, y) in [(16.0, 80.0), (80, 16), (143, 100), (100, 143), (80, 80)] {
            frame.addStar(x: x, y: y, flux: 20_000)
        }
        for (diameter, count) in [(10.0, 0), (40, 4)] {
            var configuration = configuration(sector: nil)
            configuration.apertureDiameters = [diameter]
            let sources = try scan(folder.write(frame.fits()), configuration).sources.filter { $0.fluxAuto > 10_000 }
            #expect(sources.count == 5 && sources.count { $0.flags & 16 != 0 } == count, "\(diameter)")
        }
    }

    @Test func `windowed positions are twice as precise`() throws {
        var frame = TestFrame(width: 400, height: 400, seed: 9)
        var places: [(x: Double, y: Double)] = []
        for x in stride(from: 20.0, to: 390, by: 25) {
            for y in stride(from: 20.0, to: 390, by: 25) {
                places.append((x + 0.37 * (y / 25).remainder(dividingBy: 1) + x / 1000, y + y / 900))
                frame.addStar(x: places[places.count - 1].x, y: places[places.count - 1].y, flux: 3000)
            }
        }
        let sources = try scan(folder.write(frame.fits()), configuration(sector: nil)).sources
        var (plain, windowed, count) = (0.0, 0.0, 0.0)
        for place in places {
            guard let source = sources.first(where: { abs($0.x - 1 - place.x) < 1.5 && abs($0.y - 1 - place.y) < 1.5 })
            else { continue }
            count += 1
            plain += (source.x - 1 - place.x) * (source.x - 1 - place.x)
            windowed += (source.xWindow - 1 - place.x) * (source.xWindow - 1 - place.x)
        }
        #expect(count > 200)
        #expect(windowed < plain / 2)
    }

    @Test func `pixels at or above the saturation level are flagged, and those below are not`() throws {
        var frame = TestFrame(width: 128, height: 128, seed: 10)
        frame.addStar(x: 30, y: 30, flux: 25_000)
        frame.addStar(x: 90, y: 90, flux: 25_000)
        frame.pixels[30 * 128 + 30] = 3000
        frame.pixels[90 * 128 + 90] = 2999
        var configuration = configuration(sector: 64, margin: 16)
        configuration.saturation = 3000
        let sources = try scan(folder.write(frame.fits()), configuration).sources
        let reaching = try #require(sources.first { abs($0.x - 31) < 1 && abs($0.y - 31) < 1 })
        let below = try #require(sources.first { abs($0.x - 91) < 1 && abs($0.y - 91) < 1 })
        #expect(reaching.flags & 4 != 0 && below.flags & 4 == 0)
        configuration.saturation = nil
        let unlimited = try scan(folder.write(frame.fits()), configuration).sources
        #expect(unlimited.count >= 2 && unlimited.allSatisfy { $0.flags & 4 == 0 })
    }

    @Test func `every aperture has its flux`() throws {
        var frame = TestFrame(width: 128, height: 128, seed: 3)
        frame.addStar(x: 60, y: 70, flux: 50_000)
        var configuration = configuration(sector: nil)
        configuration.apertureDiameters = [2.8, 14]
        let sources = try scan(folder.write(frame.fits()), configuration).sources
        let source = try #require(sources.max { $0.fluxAuto < $1.fluxAuto })
        #expect(source.fluxesAperture.count == 2 && source.fluxErrorsAperture.count == 2)
        // Within a radius of one sigma: 1 - exp(-1/2).
        #expect(abs(source.fluxesAperture[0] / 50_000 - 0.393) < 0.04)
        #expect(abs(source.fluxesAperture[1] / 50_000 - 1) < 0.02)
    }

    @Test func `the seeing is the stars' width, whatever else is in the image`() throws {
        var frame = TestFrame(width: 512, height: 512, seed: 12)
        for number in 0..<60 {
            frame.addStar(
                x: 30 + Double(number % 8) * 60 + 0.3, y: 30 + Double(number / 8) * 60, flux: 20_000, sigma: 1.8)
        }
        for number in 0..<20 {
            frame.addStar(x: 60 + Double(number) * 20, y: 480, flux: 200_000, sigma: 5, flattening: 0.5)
            frame.pixels[(250 + number) * 512 + 7 * number + 11] += 4000
        }
        let path = folder.write(frame.fits())
        let engine = SkyEngine()
        var configuration = configuration(sector: nil)
        configuration.filter = .seeing
        let file = ImageReference(path: path, hdu: nil)
        let info = try engine.inspect(path: path, hdu: nil)
        let sector = try #require(try SectorGrid(info: info, configuration: configuration).sectors.first)
        let tile = try engine.background(in: file, sector: sector, configuration: configuration)
        let map = try BackgroundMap(tiles: [tile], info: info, configuration: configuration)
        let widths = try engine.seeing(in: file, sector: sector, background: map, configuration: configuration)
        let seeing = try #require(widths.seeing)
        #expect(abs(seeing.fwhm - 2.355 * 1.8) < 0.15)
        #expect(widths.filter == .gaussian(fwhm: (seeing.fwhm * 100).rounded() / 100))
    }

    @Test func `only the edge of the image truncates a source, and that of a sector does not`() throws {
        var frame = TestFrame(width: 128, height: 128, seed: 4)
        frame.addStar(x: 63.5, y: 64, flux: 50_000)
        frame.addStar(x: 1, y: 40, flux: 50_000)
        let sources = try scan(folder.write(frame.fits()), configuration(sector: 64, margin: 8)).sources
        let middle = try #require(sources.first { abs($0.x - 64.5) < 0.5 && abs($0.y - 65) < 0.5 })
        let edge = try #require(sources.first { $0.x < 4 && abs($0.y - 41) < 1 })
        #expect(middle.flags & 8 == 0)
        #expect(edge.flags & 8 != 0 && edge.flags & 16 != 0)
    }

    @Test func `every number is finite, also in frames with nothing, constants and holes`() throws {
        var constant = TestFrame(width: 96, height: 96, seed: 5)
        constant.pixels = constant.pixels.map { _ in 7 }
        var spike = constant
        spike.pixels[96 * 40 + 40] = 1e20
        var holes = crowdedFrame()
        for x in stride(from: 0, to: 240, by: 7) { holes.erase(PixelRect(x: x, y: 0, width: 2, height: 230)) }
        var empty = constant
        empty.erase(empty.rect)
        var count = 0
        for frame in [constant, spike, holes, empty] {
            for source in try scan(folder.write(frame.fits()), configuration(sector: 64, margin: 16)).sources {
                let numbers = [
                    source.x, source.y, source.fluxAuto, source.fluxErrorAuto, source.fluxesAperture[0],
                    source.fluxErrorsAperture[0], source.fluxIsophotal, source.peak, source.halfLightRadius,
                    source.kronRadius, source.a, source.b, source.theta,
                ]
                let areFinite = numbers.allSatisfy { $0.isFinite }
                #expect(areFinite)
                count += 1
            }
        }
        #expect(count > 0, "some have sources")
    }

    @Test func `a file that changed its size since the background was measured is refused`() throws {
        let engine = SkyEngine()
        let configuration = configuration(sector: nil)
        let path = folder.write(TestFrame(width: 128, height: 96, seed: 8).fits())
        let file = ImageReference(path: path, hdu: nil)
        let info = try engine.inspect(path: path, hdu: nil)
        let sector = try #require(try SectorGrid(info: info, configuration: configuration).sectors.first)
        let tile = try engine.background(in: file, sector: sector, configuration: configuration)
        let map = try BackgroundMap(tiles: [tile], info: info, configuration: configuration)
        _ = folder.write(TestFrame(width: 128, height: 128, seed: 8).fits())
        #expect(throws: SkyError.self) {
            try engine.extract(in: file, sector: sector, background: map, configuration: configuration)
        }
    }

    @Test(
        .enabled(if: RealFrames.areHere, Comment(rawValue: RealFrames.comment)),
        arguments: [("ntf_m13real.fits", 128), ("xdf_f160w.fits", 128), ("sep_image.fits", 64)])
    func `real frames have one catalogue, whatever the sectors`(name: String, size: Int) throws {
        var configuration = ScanConfiguration()
        configuration.sectorSize = nil
        let path = RealFrames.folder + "/" + name
        let whole = try scan(path, configuration)
        configuration.sectorSize = size
        let parts = try scan(path, configuration)
        #expect(withoutSector(parts.sources) == withoutSector(whole.sources))
    }
}
