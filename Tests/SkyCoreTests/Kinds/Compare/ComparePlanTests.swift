import Base
import Fixtures
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// The plan of a comparison, asked without any cluster.
@Suite struct ComparePlanTests {
    private func image(_ frame: TestFrame, _ path: String) throws -> (image: CompareRequest.Image, catalogue: Catalogue)
    {
        var configuration = ScanConfiguration()
        configuration.sectorSize = nil
        let sector = Sector(index: 0, core: frame.rect, padded: frame.rect)
        let tile = try BackgroundTile(pixels: frame.pixels, sector: sector, configuration: configuration)
        let catalogue = try SkyScan(configuration).catalogue(
            of: .pixels(width: frame.width, height: frame.height, frame.pixels))
        let background = try BackgroundMap(tiles: [tile], info: frame.info, configuration: configuration)
        return (CompareRequest.Image(reference: ImageReference(path: path, hdu: 0), background: background), catalogue)
    }

    private func request() throws -> CompareRequest {
        var frame = TestFrame(width: 200, height: 160, seed: 51)
        for index in 0..<20 {
            frame.addStar(
                x: 20 + Double(index % 5) * 40, y: 20 + Double(index / 5) * 38, flux: 20_000 + Double(index) * 999)
        }
        let (new, old) = (try image(frame, "/data/new.fits"), try image(frame, "/data/old.fits"))
        let pair = try EpochPair(new: Epoch(catalogue: new.catalogue), old: Epoch(catalogue: old.catalogue))
        let rect = PixelRect(x: 0, y: 0, width: 100, height: 160)
        return CompareRequest(
            new: new.image, old: old.image,
            work: [
                .difference(pair.order(for: Sector(index: 4, core: rect, padded: rect))),
                .cutouts([], pair.cutoutOrder(for: Sector(index: 4, core: rect, padded: rect))),
            ])
    }

    @Test func `all parts are issued at once, and only matching results are accepted`() throws {
        var plan = ComparePlan(try request())
        let step = plan.begin()
        #expect(step.newTasks == 2 && step.isLast)
        #expect([0, 1, 2, -1].map { plan.label($0) } == ["difference 5", "cut-outs 2", nil, nil])
        #expect(plan.consequence(ofFailed: 0) == "columns 1 to 100, rows 1 to 160 are not compared")
        #expect(plan.consequence(ofFailed: 1) == nil)
        let found = DifferenceResult(sector: 4, corePixels: 16_000)
        #expect(plan.accepts(0, .compared(.difference(found))))
        #expect(!plan.accepts(0, .compared(.difference(DifferenceResult(sector: 5, corePixels: 1)))))
        #expect(!plan.accepts(0, .compared(.cutouts([]))) && plan.accepts(1, .compared(.cutouts([]))))
        #expect(!plan.accepts(2, .compared(.cutouts([]))) && !plan.accepts(0, .simulated))
        #expect(plan.completed(0, .compared(.difference(found))).abort == nil)
        #expect(plan.completed(1, .simulated).abort != nil)
        #expect(plan.parts.count == 1)
        #expect(plan.failed(1, "died", isBadInput: false).abort == nil)
        #expect(plan.failed(1, "missing", isBadInput: true).abort?.kind == .badInput)
    }

    @Test func `a request survives journal and wire, and one without parts is refused`() throws {
        var request = JobRequest(.compare(try request()))
        try request.validate()
        #expect(request.title == "/data/new.fits against /data/old.fits")
        #expect(request.schedulingOptions.crashes == 1)
        let bytes = try WireCoder.encode(request)
        let back = try WireCoder.decode(JobRequest.self, from: bytes)
        #expect(try WireCoder.encode(back) == bytes)
        if var empty = request.kind.comparison {
            empty.work = []
            request.kind = .compare(empty)
        }
        #expect(throws: SkyError.self) { try request.validate() }
    }
}
