import Fixtures
import Testing

@testable import Sky

/// The pixels of injected stars.
@Suite struct InjectedLightTests {
    private func image(
        _ frame: TestFrame, _ injection: Injection, gain: Double = 0, saturation: Double? = nil
    ) throws -> ScanImage {
        let image = try ScanImage(
            try MemoryImage(width: frame.width, height: frame.height, pixels: frame.pixels, header: []))
        image.injected = try InjectedLight(
            InjectedLight.Origin(
                injection: injection, width: frame.width, height: frame.height, gain: gain, saturation: saturation))
        return image
    }

    private func injection(_ count: Int, profile: StarProfile = .moffat) -> Injection {
        var injection = Injection(count: count, faintest: 50, brightest: 50_000, fwhm: 2.8)
        injection.profile = profile
        return injection
    }

    @Test(arguments: StarProfile.allCases, [0, 1.7])
    func `a pixel has the same bits whatever rectangle it is read with`(profile: StarProfile, gain: Double) throws {
        var frame = TestFrame(width: 230, height: 190, seed: 4)
        frame.erase(PixelRect(x: 100, y: 40, width: 30, height: 20))
        let image = try image(frame, injection(50, profile: profile), gain: gain, saturation: 3000)
        let whole = try image.read(frame.rect).values
        #expect(whole.map(\.bitPattern) != frame.pixels.map(\.bitPattern))
        for side in [230, 64, 37, 5] {
            for top in stride(from: 0, to: frame.height, by: side) {
                for left in stride(from: 0, to: frame.width, by: side) {
                    let rect = PixelRect(
                        x: left, y: top, width: min(side, frame.width - left), height: min(side, frame.height - top))
                    let part = try image.read(rect).values
                    var cut = frame
                    cut.pixels = whole
                    #expect(part.map(\.bitPattern) == cut.cut(rect).map(\.bitPattern))
                }
            }
        }
    }

    @Test(arguments: StarProfile.allCases, [1.2, 2.8])
    func `the shares of all pixels are the whole light`(profile: StarProfile, fwhm: Double) {
        let point = profile.point(fwhm: fwhm)
        let reach = Int(point.reach.rounded(.up))
        var sum = 0.0
        for y in -reach...reach {
            for x in -reach...reach { sum += point.share(dx: Double(x) - 0.3, dy: Double(y) + 0.2) }
        }
        #expect(abs(sum - 1) < 0.002)
    }

    @Test func `a star adds its flux, and photon noise according to the gain`() throws {
        var frame = TestFrame(width: 300, height: 300, seed: 4)
        frame.pixels = frame.pixels.map { _ in 0 }
        var stars = Injection(count: 1, faintest: 40_000, brightest: 40_000, fwhm: 3)
        var sums: [Double] = []
        for seed in 1...40 as ClosedRange<UInt64> {
            stars.seed = seed
            let quiet = try image(frame, stars).read(frame.rect).values.reduce(0.0) { $0 + Double($1) }
            // A little of it may fall beyond the image's edge.
            #expect((0.98...1.001).contains(quiet / 40_000))
            sums.append(try image(frame, stars, gain: 4).read(frame.rect).values.reduce(-quiet) { $0 + Double($1) })
        }
        // sqrt(40,000 / 4) = 100, from forty stars to 11 %.
        let rms = (sums.reduce(0) { $0 + $1 * $1 } / 40).squareRoot()
        #expect((60.0...140).contains(rms), "\(rms)")
    }

    @Test func `missing and saturated pixels stay as they are, and no pixel exceeds saturation`() throws {
        var frame = TestFrame(width: 200, height: 200, seed: 9)
        frame.erase(PixelRect(x: 0, y: 0, width: 100, height: 200))
        for index in frame.pixels.indices where index % 7 == 0 { frame.pixels[index] *= 2 }
        let image = try image(frame, injection(40), gain: 1, saturation: 900)
        let read = try image.read(frame.rect).values
        #expect(read.count == frame.pixels.count)
        for (before, after) in zip(frame.pixels, read) {
            #expect(before.isNaN == after.isNaN)
            if before >= 900 { #expect(after == before) } else { #expect(before.isNaN || after <= 900) }
        }
        let stars = try #require(image.injected).stars(in: frame.rect, of: image)
        #expect(stars.count == 40)
        #expect(stars.allSatisfy { $0.isMasked == ($0.x < 100.5) })
        let left = try #require(image.injected).stars(in: PixelRect(x: 0, y: 0, width: 64, height: 200), of: image)
        let right = try #require(image.injected).stars(in: PixelRect(x: 64, y: 0, width: 136, height: 200), of: image)
        #expect((left + right).sorted { $0.number < $1.number } == stars, "each star is one sector's")
    }

    /// The catalogue of a frame with stars in it, as a job makes it.
    private func catalogue(_ frame: TestFrame, _ injection: Injection, sector: Int?) throws -> Catalogue {
        var configuration = ScanConfiguration()
        (configuration.sectorSize, configuration.gain) = (sector, 2)
        var reference = ImageReference(path: "", hdu: nil)
        reference.injection = injection
        let engine = SkyEngine(
            try MemoryImage(width: frame.width, height: frame.height, pixels: frame.pixels, header: []))
        var request = SkyRequest(image: reference, configuration: configuration)
        request.usesCache = false
        var plan = ScanPhases(request)
        var (count, number) = (plan.begin().newWork, 0)
        while number < count {
            let step = plan.completed(number, try engine.perform(try #require(plan.work(number))))
            #expect(step.abort == nil)
            count += step.newWork
            number += 1
        }
        return try #require(plan.catalogue)
    }

    @Test func `a scan in sectors finds the stars that a scan of the whole image finds`() throws {
        var frame = TestFrame(width: 400, height: 300, seed: 21)
        frame.addStars(40)
        let whole = try catalogue(frame, injection(60), sector: nil)
        let parts = try catalogue(frame, injection(60), sector: 128)
        #expect(whole.injected?.count == 60 && parts.injected == whole.injected)
        #expect(parts.sources.map(\.fluxAuto) == whole.sources.map(\.fluxAuto))
        #expect(parts.sources.map(\.x) == whole.sources.map(\.x))
    }

    @Test func `a result without the injected stars is refused`() throws {
        var configuration = ScanConfiguration()
        configuration.sectorSize = nil
        var reference = ImageReference(path: "/data/m13.fits", hdu: nil)
        reference.injection = injection(10)
        var plan = ScanPhases(SkyRequest(image: reference, configuration: configuration))
        let frame = TestFrame(width: 256, height: 256, seed: 1)
        _ = plan.begin()
        _ = plan.completed(0, .inspected(frame.info))
        let sector = try #require(try SectorGrid(info: frame.info, configuration: configuration).sectors.first)
        let tile = try BackgroundTile(pixels: frame.pixels, sector: sector, configuration: configuration)
        _ = plan.completed(1, .background(tile))
        guard case .extract(let image, _, _, _)? = plan.work(2) else {
            Issue.record("a sector follows")
            return
        }
        #expect(image.injection == reference.injection)
        var result = SectorResult(sector: 0)
        #expect(!plan.accepts(2, .extracted(result)))
        result.injected = []
        #expect(plan.accepts(2, .extracted(result)))
        result.injected = Array(repeating: InjectedStar(number: 1, x: 5, y: 5, flux: 1), count: 11)
        #expect(!plan.accepts(2, .extracted(result)))
    }
}
