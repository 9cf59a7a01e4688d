import Base
import Fixtures
import Testing

@testable import Sky

/// Weights, noise and masks.
@Suite struct CompanionsTests {
    private let folder = TemporaryFolder()
    private let engine = SkyEngine()

    /// A frame whose right half is four times as noisy.
    private func frame() -> TestFrame {
        var frame = TestFrame(width: 256, height: 128, seed: 31, noise: 5)
        for y in 0..<128 { for x in 128..<256 { frame.pixels[y * 256 + x] += Float(19.4 * frame.random.normal()) } }
        for index in 0..<24 {
            frame.addStar(x: 12 + Double(index % 6) * 20, y: 15 + Double(index / 6) * 30, flux: 900)
            frame.addStar(x: 140 + Double(index % 6) * 20, y: 15 + Double(index / 6) * 30, flux: 9000)
        }
        return frame
    }

    /// An image of the frame's size with a number for each half, and none in a square.
    private func map(_ left: Float, _ right: Float, hole: PixelRect? = nil, _ name: String) -> Companions.Image {
        var map = frame()
        for index in map.pixels.indices { map.pixels[index] = index % 256 < 128 ? left : right }
        if let hole {
            for y in hole.y..<hole.bottom { for x in hole.x..<hole.right { map.pixels[y * 256 + x] = 0 } }
        }
        return Companions.Image(path: folder.write(map.fits(), name))
    }

    private func scan(
        _ noise: Companions.Image?, _ kind: Companions.NoiseKind = .rms, mask: Companions.Image? = nil,
        sector: Int? = nil
    ) throws -> Catalogue {
        var companions = Companions()
        (companions.noise, companions.kind, companions.mask) = (noise, kind, mask)
        var configuration = ScanConfiguration()
        (configuration.meshSize, configuration.sectorSize) = (32, sector)
        let path = folder.write(frame().fits())
        var image = ImageReference(path: path, hdu: nil)
        image.companions = companions
        let info = try engine.inspect(path: path, hdu: nil, companions: companions)
        let sectors = try SectorGrid(info: info, configuration: configuration).sectors
        let tiles = try sectors.map {
            try engine.background(in: image, sector: $0, configuration: configuration)
        }
        let map = try BackgroundMap(tiles: tiles, info: info, configuration: configuration)
        let results = try sectors.map {
            try engine.extract(in: image, sector: $0, background: map, configuration: configuration)
        }
        var catalogue = Catalogue(merging: results, info: info)
        for index in catalogue.sources.indices { catalogue.sources[index].sector = 0 }
        return catalogue
    }

    private func falseOnes(_ sources: [Source]) -> Int {
        sources.count { source in
            let x = source.x - 1
            return !(0..<48).contains { index in
                let star = (x: (index < 24 ? 12 : 140) + Double(index % 6) * 20, y: 15 + Double(index % 24 / 6) * 30)
                return abs(star.x - x) < 3 && abs(star.y - source.y + 1) < 3
            }
        }
    }

    @Test
    func `a noise map finds faint stars where noise is low, and fewer false ones where it is high`()
        throws
    {
        let plain = try scan(nil).sources
        let weighted = try scan(map(5, 20, "rms.fits")).sources
        #expect(falseOnes(weighted) < falseOnes(plain) / 3 + 3)
        #expect(weighted.count { $0.x < 128 } >= 22)
        #expect(weighted.count { $0.x > 136 } >= 22)
        let (left, right) = (weighted.filter { $0.x < 128 }, weighted.filter { $0.x > 136 })
        #expect(!left.isEmpty && !right.isEmpty)
        // 1.5 sigma each.
        #expect(left.allSatisfy { abs($0.threshold - 7.5) < 0.1 } && right.allSatisfy { abs($0.threshold - 30) < 0.1 })
        // Errors grow with the noise and the aperture alone: r = 5 holds 78.5 pixels.
        let error = try #require(left.first { $0.flags == 0 }).fluxErrorsAperture[0]
        #expect(abs(error / (5 * 78.5.squareRoot()) - 1) < 0.02)
        let noisy = try #require(right.first { $0.flags == 0 }).fluxErrorsAperture[0]
        #expect(abs(noisy / error - 4) < 0.01)
    }

    @Test func `fluxes stay in units of the image`() throws {
        let weighted = try scan(map(5, 20, "rms.fits")).sources
        let star = try #require(weighted.first { abs($0.x - 141) < 2 && abs($0.y - 16) < 2 })
        #expect(abs(star.fluxAuto / 9000 - 1) < 0.15)
        #expect(star.peak > 400 && star.fluxIsophotal > 4000)
    }

    @Test func `variance and weight maps are equivalent to noise maps, up to any factor`() throws {
        func compact(_ catalogue: Catalogue) -> [[Double]] {
            catalogue.sources.map { [$0.x, $0.y, $0.fluxAuto, $0.fluxErrorAuto].map { ($0 * 100).rounded() / 100 } }
        }
        let rms = try scan(map(5, 20, "rms.fits"))
        let weight = try scan(map(16, 1, "weight.fits"), .weight)
        #expect(compact(try scan(map(25, 400, "variance.fits"), .variance)) == compact(weight))
        let scaled = try scan(map(1600, 100, "weight.fits"), .weight)
        #expect(compact(scaled) == compact(weight))
        #expect(abs(weight.sources.count - rms.sources.count) <= 2)
        // The factor comes from the image's own noise.
        let error = try #require(weight.sources.first { $0.flags == 0 && $0.x < 128 }).fluxErrorsAperture[0]
        #expect(abs(error / (5 * 78.5.squareRoot()) - 1) < 0.06)
    }

    @Test func `pixels that are masked or without weight are missing`() throws {
        let hole = PixelRect(x: 130, y: 5, width: 20, height: 20)
        let star = { (catalogue: Catalogue) in
            catalogue.sources.contains { abs($0.x - 141) < 4 && abs($0.y - 16) < 4 }
        }
        #expect(star(try scan(nil)))
        #expect(!star(try scan(map(16, 1, hole: hole, "weight.fits"), .weight)))
        #expect(!star(try scan(map(5, 20, hole: hole, "rms.fits"))))
        var mask = frame()
        for index in mask.pixels.indices {
            let (x, y) = (index % 256, index / 256)
            mask.pixels[index] = hole.contains(PixelRect(x: x, y: y, width: 1, height: 1)) ? 4 : 0
        }
        let masked = try scan(nil, mask: Companions.Image(path: folder.write(mask.fits(), "mask.fits")))
        #expect(!star(masked))
        #expect(masked.sources.count { $0.x < 128 } > 10)
    }

    @Test(arguments: [Companions.NoiseKind.rms, .weight])
    func `sectors give what the whole image gives`(kind: Companions.NoiseKind) throws {
        let noise = kind == .rms ? map(5, 20, "map.fits") : map(16, 1, "map.fits")
        #expect(try scan(noise, kind, sector: 64).sources == scan(noise, kind).sources)
    }

    @Test func `a map of another size or a missing one is refused by name`() throws {
        let other = Companions.Image(path: folder.write(TestFrame(width: 64, height: 64, seed: 1).fits(), "small.fits"))
        let error = #expect(throws: SkyError.self) { try scan(other) }
        #expect(error?.message.contains("small.fits: 64 x 64 pixels, but") == true)
        #expect(throws: SkyError.self) { try scan(Companions.Image(path: folder.path + "/missing.fits")) }
    }

    @Test func `a companion image of several is found by the same number`() throws {
        let small = TestFrame(width: 16, height: 16, seed: 1)
        func file(_ frames: [TestFrame], _ name: String) -> String {
            let primary = FITSBytes.header(["BITPIX  = 8", "NAXIS   = 0", "EXTEND  = T"])
            let images = frames.flatMap { frame in
                FITSBytes.header(
                    [
                        "BITPIX  = -32", "NAXIS   = 2", "NAXIS1  = \(frame.width)", "NAXIS2  = \(frame.height)",
                        "PCOUNT  = 0", "GCOUNT  = 1",
                    ], first: "XTENSION= 'IMAGE   '") + Array(frame.fits().dropFirst(2880))
            }
            return folder.write(primary + images, name)
        }
        var companions = Companions()
        companions.mask = Companions.Image(path: file([small, frame()], "masks.fits"))
        let path = file([frame(), frame()], "images.fits")
        #expect(try engine.inspect(path: path, hdu: 2, companions: companions).maskHDU == 2)
        #expect(throws: SkyError.self) { try engine.inspect(path: path, hdu: 1, companions: companions) }
        companions.mask?.hdu = 2
        #expect(try engine.inspect(path: path, hdu: 1, companions: companions).maskHDU == 2)
    }

    @Test func `a source with a missing centre has the errors of its surroundings, in any unit`() throws {
        var frame = frame()
        frame.addStar(x: 64, y: 60, flux: 30_000, sigma: 2)
        // The values are small, as in the large units of James Webb.
        frame.pixels = frame.pixels.map { $0 * 1e-3 }
        var rms = frame
        for index in rms.pixels.indices { rms.pixels[index] = index % 256 < 128 ? 5e-3 : 2e-2 }
        func star(_ rms: TestFrame) throws -> Source {
            var companions = Companions()
            companions.noise = Companions.Image(path: folder.write(rms.fits(), "rms.fits"))
            let path = folder.write(frame.fits())
            var image = ImageReference(path: path, hdu: nil)
            image.companions = companions
            var configuration = ScanConfiguration()
            (configuration.meshSize, configuration.sectorSize) = (32, nil)
            let info = try engine.inspect(path: path, hdu: nil, companions: companions)
            let sector = Sector(index: 0, core: frame.rect, padded: frame.rect)
            let tile = try engine.background(in: image, sector: sector, configuration: configuration)
            let map = try BackgroundMap(tiles: [tile], info: info, configuration: configuration)
            let found = try engine.extract(in: image, sector: sector, background: map, configuration: configuration)
            return try #require(found.sources.first { abs($0.x - 65) < 2 && abs($0.y - 61) < 2 })
        }
        let whole = try star(rms)
        rms.pixels[60 * 256 + 64] = 0
        let holed = try star(rms)
        #expect(abs(holed.fluxErrorsAperture[0] / whole.fluxErrorsAperture[0] - 1) < 0.1)
        #expect(holed.threshold < 0.1)
    }

    @Test func `sharpness is judged by the noise of each pixel`() throws {
        // The same spike in both halves: 240 times the noise in the left one, ten times in the right one, which is no proof.
        var frame = TestFrame(width: 256, height: 128, seed: 32, noise: 5)
        for index in 0..<24 {
            frame.addStar(x: 12 + Double(index % 12) * 20, y: 15 + Double(index / 12) * 80, flux: 20_000)
        }
        for x in [64, 192] { frame.pixels[64 * 256 + x] += 1200 }
        var companions = Companions()
        var map = frame
        for index in map.pixels.indices { map.pixels[index] = index % 256 < 128 ? 5 : 120 }
        (companions.noise, companions.kind) = (Companions.Image(path: folder.write(map.fits(), "rms.fits")), .rms)
        var configuration = ScanConfiguration()
        (configuration.meshSize, configuration.seeing, configuration.threshold) = (32, 3.3, 1)
        var image = ImageReference(path: folder.write(frame.fits()), hdu: nil)
        image.companions = companions
        var plan = ScanPhases(SkyRequest(image: image, configuration: configuration))
        var (count, number) = (plan.begin().newWork, 0)
        while number < count {
            let step = plan.completed(number, try engine.perform(try #require(plan.work(number))))
            if let error = step.abort { throw error }
            (count, number) = (count + step.newWork, number + 1)
        }
        let catalogue = try #require(plan.catalogue)
        func flag(_ x: Double) -> Int? {
            catalogue.sources.first { abs($0.x - 1 - x) < 3 && abs($0.y - 65) < 3 }?.imageFlags
        }
        #expect(flag(64) == 1)
        #expect(flag(192) == 0)
        #expect(catalogue.sources.count { $0.imageFlags != 0 } == 1)
    }
}
