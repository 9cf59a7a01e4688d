import Base
import Fixtures
import Testing

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// Which results of earlier scans may answer.
@Suite struct ScanCacheKeyTests {
    private let folder = TemporaryFolder()

    private func frame(_ seed: UInt64) -> TestFrame {
        var frame = TestFrame(width: 200, height: 150, seed: seed)
        frame.addStars(12)
        return frame
    }

    /// A plan carried out to its end.
    private func plan(_ path: String, by detection: String? = nil) throws -> SkyPlan {
        var image = ImageReference(path: path, hdu: nil)
        image.detection = detection.map { DetectionImage(Companions.Image(path: $0)) }
        var configuration = ScanConfiguration()
        (configuration.meshSize, configuration.sectorSize, configuration.gain) = (32, nil, 2)
        let request = SkyRequest(image: image, configuration: configuration)
        try request.validate()
        let engine = SkyEngine()
        var plan = SkyPlan(request)
        var (count, number) = (plan.begin().newTasks, 0)
        while number < count {
            let task = try #require(plan.task(number))
            guard let work = task.work.sky else { throw SkyError(.failed, "other work than on images") }
            let step = plan.completed(number, .sky(try engine.perform(work)))
            if let error = step.abort { throw error }
            (count, number) = (count + step.newTasks, number + 1)
        }
        return plan
    }

    @Test func `injected stars change the cache key`() throws {
        let injection = Injection(count: 200, faintest: 10, brightest: 1000, fwhm: 3)
        var identity = CacheKey.ScanContent(digest: [1, 2], size: 3)
        let plain = try #require(CacheKey(identity))
        identity.injection = injection
        let injected = try #require(CacheKey(identity))
        identity.injection?.seed = 2
        #expect(plain != injected && CacheKey(identity) != injected)
    }

    @Test func `two planes of one file have different cache keys`() throws {
        func key(_ plane: Int?) throws -> CacheKey {
            let path = folder.write(FITSArray(planes: (1...3).map { frame($0) }).primary)
            var request = SkyRequest(
                image: ImageReference(path: path, hdu: 0, layer: ImageLayer(plane: plane)),
                configuration: ScanConfiguration())
            request.pictureSide = 100
            var plan = SkyPlan(request)
            _ = plan.begin()
            let info = try SkyEngine().inspect(path: path, hdu: 0, layer: request.image.layer, withContent: true)
            _ = plan.completed(0, .sky(.inspected(info)))
            return try #require(plan.cacheKey(1))
        }
        #expect(try key(1) != key(2))
        #expect(try key(2) == key(2))
        #expect(try key(nil) != key(2))
    }

    @Test func `an encoded picture is not taken for one in pixels`() throws {
        func key(_ encodes: Bool?) throws -> CacheKey {
            let path = folder.write(frame(3).fits(), "pictured.fits")
            var configuration = ScanConfiguration()
            (configuration.meshSize, configuration.gain) = (32, 2)
            var request = SkyRequest(image: ImageReference(path: path, hdu: nil), configuration: configuration)
            (request.pictureSide, request.encodesPicture) = (100, encodes)
            var plan = SkyPlan(request)
            _ = plan.begin()
            let engine = SkyEngine()
            for number in 0..<2 {
                let work = try #require(plan.task(number)?.work.sky)
                _ = plan.completed(number, .sky(try engine.perform(work)))
            }
            guard case .preview? = plan.task(2)?.work.sky else { throw SkyError(.failed, "the picture comes first") }
            return try #require(plan.cacheKey(2))
        }
        #expect(try key(true) == key(true) && key(nil) == key(false))
        #expect(try key(true) != key(nil))
    }

    @Test func `the detection image is part of a sector's key, and not of a background's`() throws {
        func keys(_ seed: UInt64?) throws -> (background: CacheKey?, own: CacheKey?, sector: CacheKey?) {
            let path = folder.write(frame(72).fits(), "measured.fits")
            let done = try plan(path, by: seed.map { folder.write(frame($0).fits(), "\($0).fits") })
            return (done.cacheKey(1), seed == nil ? nil : done.cacheKey(2), done.cacheKey(seed == nil ? 2 : 3))
        }
        let (plain, one, again, other) = (try keys(nil), try keys(5), try keys(5), try keys(6))
        #expect(one.background == plain.background && one.own != one.background)
        #expect(one.sector == again.sector && one.own == again.own)
        // The results of a plain scan of the detection image can be used.
        #expect(try one.own == plan(folder.path + "/5.fits").cacheKey(1))
        #expect(Set([plain.sector, one.sector, other.sector]).count == 3 && one.own != other.own)
    }
}
