import Base
import Fixtures
import Testing
import Transport

@testable import Sky

/// Sources found on one image and measured on another.
@Suite struct DualImageTests {
    private let folder = TemporaryFolder()

    private static let stars: [(x: Double, y: Double, flux: Double)] = (0..<30).map { number in
        let (column, row) = (Double(number % 6), Double(number / 6))
        return (x: 20.3 + column * 62, y: 24.7 + row * 58, flux: 3000 + 900 * Double(number))
    }

    /// The stars of the sky, each as bright as a rule says.
    private func frame(_ seed: UInt64, _ flux: (Int) -> Double) -> TestFrame {
        var frame = TestFrame(width: 400, height: 300, seed: seed)
        for (number, star) in Self.stars.enumerated() where flux(number) != 0 {
            frame.addStar(x: star.x, y: star.y, flux: flux(number))
        }
        // A galaxy that is larger than a sector of the tests.
        frame.addStar(x: 200, y: 150, flux: flux(29) * 60, sigma: 12, flattening: 0.7)
        return frame
    }

    private var detection: TestFrame { frame(71) { Self.stars[$0].flux } }
    /// Another night: every second star is gone, the others are half as bright.
    private var measured: TestFrame { frame(72) { $0 % 2 == 0 ? Self.stars[$0].flux / 2 : 0 } }

    private func configuration(sector: Int? = nil) -> ScanConfiguration {
        var configuration = ScanConfiguration()
        (configuration.meshSize, configuration.sectorSize, configuration.gain) = (32, sector, 2)
        return configuration
    }

    private func request(
        _ path: String, by detection: String?, sector: Int? = nil, plane: Int? = nil
    ) -> SkyRequest {
        var image = ImageReference(path: path, hdu: nil, layer: ImageLayer(plane: plane))
        image.detection = detection.map { DetectionImage(Companions.Image(path: $0)) }
        return SkyRequest(image: image, configuration: configuration(sector: sector))
    }

    /// The way of every job, one task after the other.
    private func plan(_ request: SkyRequest) throws -> ScanPhases {
        try request.validate()
        let engine = SkyEngine()
        var plan = ScanPhases(request)
        var (count, number) = (plan.begin().newWork, 0)
        while number < count {
            let work = try #require(plan.work(number))
            try work.check()
            let sent = try WireCoder.decode(SkyWork.self, from: WireCoder.encode(work))
            let step = plan.completed(number, try engine.perform(sent))
            if let error = step.abort { throw error }
            count += step.newWork
            number += 1
        }
        return plan
    }

    private func catalogue(
        _ path: String, by detection: String?, sector: Int? = nil, plane: Int? = nil
    ) throws -> Catalogue {
        try #require(try plan(request(path, by: detection, sector: sector, plane: plane)).catalogue)
    }

    @Test func `positions and shapes are the detection image's, fluxes the measured one's`() throws {
        let (one, other) = (folder.write(detection.fits(), "one.fits"), folder.write(measured.fits(), "other.fits"))
        let alone = try catalogue(one, by: nil).sources
        let dual = try catalogue(other, by: one).sources
        #expect(alone.count > 28 && dual.count == alone.count)
        for (seen, source) in zip(alone, dual) {
            #expect((seen.x, seen.y) == (source.x, source.y))
            #expect((seen.a, seen.b, seen.theta) == (source.a, source.b, source.theta))
            #expect(seen.threshold == source.threshold)
            #expect(seen.kronRadius == source.kronRadius || (source.fluxAuto <= 0 && source.kronRadius == 0))
        }
        var compared = 0
        for (number, star) in Self.stars.enumerated() where star.flux < 28_000 {
            let place = dual.indices.first { abs(dual[$0].x - star.x - 1) < 1 && abs(dual[$0].y - star.y - 1) < 1 }
            guard let place, dual[place].flags == 0 else { continue }
            let ratio = dual[place].fluxesAperture[0] / alone[place].fluxesAperture[0]
            #expect(abs(ratio - (number % 2 == 0 ? 0.5 : 0)) < 0.15, "star \(number): \(ratio)")
            compared += 1
        }
        #expect(compared > 10, "most stars stand alone")
    }

    @Test func `an image that is its own detection image has the catalogue of a plain scan`() throws {
        let path = folder.write(detection.fits(), "one.fits")
        let (plain, dual) = (try catalogue(path, by: nil).sources, try catalogue(path, by: path).sources)
        #expect(plain.count == dual.count)
        for (one, other) in zip(plain, dual) {
            // SEP adds isophotal light up in another order.
            #expect(abs(one.fluxIsophotal / other.fluxIsophotal - 1) < 1e-5)
            var same = other
            same.fluxIsophotal = one.fluxIsophotal
            #expect(same == one)
        }
    }

    @Test(arguments: [64, 128, 256]) func `the catalogue does not depend on the sectors`(side: Int) throws {
        let (one, other) = (folder.write(detection.fits(), "one.fits"), folder.write(measured.fits(), "other.fits"))
        var parts = try catalogue(other, by: one, sector: side).sources
        for index in parts.indices { parts[index].sector = 0 }
        #expect(parts == (try catalogue(other, by: one).sources))
    }

    @Test func `the detection plane of a cube has the same number, or is the named one`() throws {
        let cube = folder.write(FITSArray(planes: [detection, measured]).primary, "cube.fits")
        let (one, other) = (folder.write(detection.fits(), "one.fits"), folder.write(measured.fits(), "other.fits"))
        #expect(try catalogue(cube, by: cube, plane: 2).sources == catalogue(other, by: other).sources)
        var mixed = request(cube, by: cube, plane: 2)
        mixed.image.detection?.image.layer = ImageLayer(plane: 1)
        let found = try #require(try plan(mixed).catalogue)
        #expect(try found.sources == catalogue(other, by: one).sources)
        #expect(found.info.detection?.layer?.plane == 1)
        mixed.image.detection?.image.layer = ImageLayer(plane: 7)
        #expect(throws: SkyError.self) { try plan(mixed) }
    }

    @Test func `images of different sizes are refused in a line that names both`() throws {
        let one = folder.write(TestFrame(width: 90, height: 80, seed: 1).fits(), "one.fits")
        let other = folder.write(TestFrame(width: 80, height: 90, seed: 1).fits(), "other.fits")
        let error = try #require(throws: SkyError.self) { try catalogue(other, by: one) }
        #expect(error.kind == .badInput && error.message.contains("one.fits: 90 x 80 pixels"), "\(error.message)")
        #expect(error.message.contains("other.fits") && error.message.contains("has 80 x 90"))
        #expect(throws: SkyError.self) { try catalogue(other, by: folder.path + "/none.fits") }
    }

    @Test func `a result without the detection image is refused`() throws {
        let (one, other) = (folder.write(detection.fits(), "one.fits"), folder.write(measured.fits(), "other.fits"))
        let engine = SkyEngine()
        var plan = ScanPhases(request(other, by: one))
        _ = plan.begin()
        let wanted = Companions.Image(path: one)
        #expect(!plan.accepts(0, .inspected(try engine.inspect(path: other, hdu: nil))))
        let info = try engine.inspect(path: other, hdu: nil, detection: wanted, withContent: true)
        #expect(info.detection?.content == (try FileContent(of: one)))
        #expect(plan.completed(0, .inspected(info)).newWork == 2)
        for number in 1...2 {
            _ = plan.completed(number, try engine.perform(try #require(plan.work(number))))
        }
        let work = try #require(plan.work(3))
        guard case .extract(let image, let sector, let background, let configuration) = work else {
            Issue.record("a sector follows")
            return
        }
        #expect(image.contents.map(\.path) == [other, one], "both files are looked at for changes, and read elsewhere")
        #expect(plan.accepts(3, try engine.perform(work)))
        var blind = image
        blind.detection = nil
        #expect(!plan.accepts(3, try engine.perform(.extract(blind, sector, background, configuration))))
        blind.detection = image.detection
        blind.detection?.background = nil
        #expect(throws: SkyError.self, "and no crash") {
            try engine.perform(.extract(blind, sector, background, configuration))
        }
    }

    @Test func `sharpness is judged on the measured image, by the width of its own stars`() throws {
        func night(_ seed: UInt64, sigma: Double, _ hot: [(x: Int, y: Int)]) -> TestFrame {
            var frame = TestFrame(width: 400, height: 300, seed: seed)
            for star in Self.stars { frame.addStar(x: star.x, y: star.y, flux: star.flux * 9, sigma: sigma) }
            for place in hot { frame.pixels[place.y * 400 + place.x] += 3000 }
            return frame
        }
        // In the one only, in both, in the other only, and there on a star.
        let (seen, both, unseen, onStar) = ((x: 51, y: 53), (x: 113, y: 53), (x: 175, y: 53), (x: 147, y: 82))
        let one = folder.write(night(81, sigma: 3, [seen, both]).fits(), "wide.fits")
        let other = folder.write(night(82, sigma: 1.2, [both, unseen, onStar]).fits(), "sharp.fits")
        for seeing in [nil, 3 * Gaussian.fwhm] {
            var request = request(other, by: one)
            request.configuration.seeing = seeing
            if seeing != nil { request.configuration.filter = .seeing }
            let catalogue = try #require(try plan(request).catalogue)
            func flag(_ place: (x: Int, y: Int)) -> Int? {
                catalogue.sources.first { abs($0.x - 1 - Double(place.x)) < 4 && abs($0.y - 1 - Double(place.y)) < 4 }?
                    .imageFlags
            }
            #expect(flag(seen) == 0 && flag(both) == 1 && flag(unseen) == nil && flag(onStar) == 1)
            #expect(catalogue.sources.count >= 30 && catalogue.sources.count { $0.imageFlags != 0 } == 2)
            let width = try #require(catalogue.seeing(request.configuration)).fwhm
            #expect(abs(width / (1.2 * Gaussian.fwhm) - 1) < 0.1, "\(width)")
        }
    }

    @Test func `contradicting requests are refused`() throws {
        func words(_ change: (inout SkyRequest) -> Void) -> String? {
            var request = request("/a.fits", by: "/b.fits")
            change(&request)
            return SkyError.thrown { () throws(SkyError) in try request.validate() }?.message
        }
        #expect(words { _ in } == nil)
        #expect(words { $0.image.layer = ImageLayer(bayer: BayerGrid(.rggb, .red)) }?.contains("--bayer") == true)
        #expect(words { $0.checkImages = [.background] }?.contains("--check-image") == true)
        #expect(words { $0.configuration.filter = .seeing }?.contains("--seeing") == true)
        #expect(
            words { request in
                request.configuration.filter = .seeing
                request.configuration.seeing = 3
            } == nil)
        for isCompared in [true, false] {
            let words = words { request in
                var purpose = ScanPurpose()
                if isCompared { purpose.isCompared = true } else { purpose.injection = InjectionDemand(count: 3) }
                request.purpose = purpose
            }
            #expect(words?.contains(isCompared ? "--reference" : "--inject") == true)
        }
        #expect(words { $0.image.detection?.image.path = "b.fits" }?.contains("absolute") == true)
        #expect(words { $0.image.detection?.image.hdu = -1 } != nil)
        #expect(words { $0.image.detection?.image.layer = ImageLayer(plane: 0) } != nil)
        #expect(words { $0.image.detection?.image.layer = ImageLayer(bayer: BayerGrid(.rggb, .red)) } != nil)
    }
}
