import Base
import Testing

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// The plan of an image, asked without any cluster.
@Suite struct SkyPlanTests {
    private let info = ImageInfo(width: 256, height: 128, bitpix: -32, hdu: 0, hasWCS: false)
    private let configuration: ScanConfiguration = {
        var configuration = ScanConfiguration()
        configuration.sectorSize = 128
        return configuration
    }()

    /// - Parameter drawsFirst: `nil` as in requests of versions before 0.2, whose jobs may still be in a journal.
    private func plan(
        failSector: Int? = nil, picture: Int? = 400, drawsFirst: Bool? = nil, encodes: Bool? = nil
    ) -> SkyPlan {
        var request = SkyRequest(image: ImageReference(path: "/data/m13.fits", hdu: nil), configuration: configuration)
        request.failSector = failSector
        (request.pictureSide, request.drawsFirst, request.encodesPicture) = (picture, drawsFirst, encodes)
        return SkyPlan(request)
    }

    /// The background of one sector, measured on an even ramp.
    private func tile(_ sector: Sector) throws -> BackgroundTile {
        let pixels = (0..<sector.core.width * sector.core.height).map { 100 + Float($0 % 7) }
        return try BackgroundTile(pixels: pixels, sector: sector, configuration: configuration)
    }

    /// A plan whose backgrounds are all measured.
    private func measured(
        failSector: Int? = nil, picture: Int? = 400, drawsFirst: Bool? = nil, encodes: Bool? = nil
    ) throws -> SkyPlan {
        var plan = plan(failSector: failSector, picture: picture, drawsFirst: drawsFirst, encodes: encodes)
        _ = plan.begin()
        _ = plan.completed(0, .sky(.inspected(info)))
        let sectors = try SectorGrid(info: info, configuration: configuration).sectors
        // In another order than issued: results come as they come.
        _ = plan.completed(2, .sky(.background(try tile(sectors[1]))))
        _ = plan.completed(1, .sky(.background(try tile(sectors[0]))))
        return plan
    }

    @Test func `a result is refused unless it has exactly what columns and check images need`() throws {
        var request = SkyRequest(image: ImageReference(path: "/data/m13.fits", hdu: nil), configuration: configuration)
        (request.checkImages, request.configuration.columns) = ([.segmentation], ["NUMBER", "MU_MAX"])
        var asking = SkyPlan(request)
        _ = asking.begin()
        _ = asking.completed(0, .sky(.inspected(info)))
        for (index, sector) in try SectorGrid(info: info, configuration: configuration).sectors.enumerated() {
            _ = asking.completed(1 + index, .sky(.background(try tile(sector))))
        }
        guard case .extract(_, let sector, _, let published)? = try #require(asking.task(3)).work.sky else {
            Issue.record("no sector")
            return
        }
        #expect(published.columns == ["MU_MAX"] && published.checkParts == .footprints)
        // A node of an earlier version.
        var result = SectorResult(sector: sector.index, sources: [source(5, sector: sector.index)])
        #expect(!asking.accepts(3, .sky(.extracted(result))))
        #expect(try measured(picture: nil).accepts(3, .sky(.extracted(result))))
        result.footprints = []
        #expect(!asking.accepts(3, .sky(.extracted(result))))
        result.sources[0].further = FurtherMeasurements()
        #expect(asking.accepts(3, .sky(.extracted(result))))
        #expect(try !measured(picture: nil).accepts(3, .sky(.extracted(result))))
    }

    @Test func `every setting that affects measurements is part of the cache key, and no other`() throws {
        func key(_ change: (inout ScanConfiguration) throws -> Void) rethrows -> CacheKey? {
            var identity = CacheKey.ScanContent(digest: [1], size: 1, hdu: 0)
            var configuration = configuration
            try change(&configuration)
            identity.configuration = configuration.measuring
            return CacheKey(identity)
        }
        let plain = key { _ in }
        let kernel = try ConvolutionKernel(width: 3, height: 1, weights: [1, 2, 1])
        let loud = try ConvolutionKernel(width: 3, height: 1, weights: [1, 2, 1], isNormed: false)
        let others = [
            key { $0.columns = ["FLUXERR_ISO"] }, key { $0.columns = ["SPREAD_MODEL"] },
            key { $0.localBackground = 24 },
            key { $0.localBackground = 25 }, key { $0.checkParts = .footprints }, key { $0.filter = .kernel(kernel) },
            key { $0.filter = .kernel(loud) },
        ]
        #expect(Set(others + [plain]).count == others.count + 1)
        #expect(key { $0.columns = ["FLAGS", "MAG_ISO"] } == plain)
        #expect(key { $0.columns = ["ERRA_IMAGE", "X_IMAGE"] } == others[0])
    }

    private func source(_ x: Double, sector: Int) -> Source { Source(x: x, y: 5, sector: sector) }

    @Test func `the header comes first, then backgrounds, then sectors and the picture`() throws {
        var plan = plan()
        let first = plan.begin()
        #expect(first.newTasks == 1 && !first.isLast)
        #expect(plan.task(0)?.label == "header")
        #expect(plan.task(1) == nil, "nothing is known of the image yet")

        let second = plan.completed(0, .sky(.inspected(info)))
        #expect(second.newTasks == 2 && !second.isLast)
        #expect([1, 2].map { plan.task($0)?.label } == ["background 1", "background 2"])

        let sectors = try SectorGrid(info: info, configuration: configuration).sectors
        let third = plan.completed(1, .sky(.background(try tile(sectors[0]))))
        #expect(third.newTasks == 0)
        let fourth = plan.completed(2, .sky(.background(try tile(sectors[1]))))
        #expect(fourth.newTasks == 3 && !fourth.isLast)
        #expect([3, 4, 5].map { plan.task($0)?.label } == ["sector 1", "sector 2", "picture"])
        #expect(plan.task(6) == nil && plan.task(-1) == nil)
        #expect(!plan.completed(3, .sky(.extracted(SectorResult(sector: 0)))).isLast)
        #expect(!plan.completed(4, .sky(.extracted(SectorResult(sector: 1)))).isLast)
        // All tasks of a step must have ended before the next step is issued.
        let last = plan.failed(5, "no memory", isBadInput: false)
        #expect(last.newTasks == 0 && last.isLast)
    }

    @Test func `a picture is drawn before the sectors are scanned, on the node that measured the first background`()
        throws
    {
        let request = SkyRequest(image: ImageReference(path: "/data/m13.fits", hdu: nil), configuration: configuration)
        #expect(request.drawsFirst == true, "every new request asks for that")
        var plan = try measured(drawsFirst: true)
        #expect([3, 4, 5].map { plan.task($0)?.label } == ["picture", "sector 1", "sector 2"])
        #expect([3, 4, 5].map(plan.affinity) == [1, 1, 2])
        #expect(!plan.completed(4, .sky(.extracted(SectorResult(sector: 0)))).isLast)
        #expect(!plan.failed(3, "no memory", isBadInput: false).isLast)
        #expect(plan.completed(5, .sky(.extracted(SectorResult(sector: 1)))).isLast)
        #expect(try measured(picture: nil, drawsFirst: true).task(3)?.label == "sector 1")
    }

    @Test func `the width of the filter is measured in two halves of a wide image before all is scanned`() throws {
        let info = ImageInfo(width: 1152, height: 128, bitpix: -32, hdu: 0, hasWCS: false)
        var request = SkyRequest(image: ImageReference(path: "/data/m13.fits", hdu: nil), configuration: configuration)
        request.configuration.filter = .seeing
        var plan = SkyPlan(request)
        _ = plan.begin()
        _ = plan.completed(0, .sky(.inspected(info)))
        let sectors = try SectorGrid(info: info, configuration: configuration).sectors
        #expect(sectors.count == 9)
        for number in 1...8 { _ = plan.completed(number, .sky(.background(try tile(sectors[number - 1])))) }
        let third = plan.completed(9, .sky(.background(try tile(sectors[8]))))
        #expect(third.newTasks == 2 && !third.isLast)
        #expect([10, 11].map { plan.task($0)?.label } == ["seeing 1", "seeing 2"])
        #expect(
            [10, 11].map(plan.affinity) == [1, 5], "who has the background of the first sector there has its pixels")
        #expect(plan.task(12) == nil, "the filter is not known yet")
        var widths = StarWidths([])
        widths.values = [2.5, .nan, 2.5, 2.5, 2.5]
        #expect(!plan.accepts(10, .sky(.seeing(widths))))
        widths.values = [2.5, 2.5, 2.5, 2.5, 2.5]
        #expect(plan.completed(11, .sky(.seeing(StarWidths([])))).newTasks == 0)
        let fourth = plan.completed(10, .sky(.seeing(widths)))
        #expect(fourth.newTasks == 9)
        guard case .extract(_, _, _, let used)? = plan.task(12)?.work.sky else {
            Issue.record("sectors follow")
            return
        }
        #expect(used.filter == .gaussian(fwhm: 2.5))
        _ = plan.completed(12, .sky(.extracted(SectorResult(sector: 0))))
        #expect(plan.phases.catalogue?.filter == .gaussian(fwhm: 2.5))
        #expect(plan.failed(10, "died", isBadInput: false).abort != nil)
        #expect(plan.failed(12, "died", isBadInput: false).abort == nil)
    }

    @Test func `a given star width is not measured`() throws {
        var request = SkyRequest(image: ImageReference(path: "/data/m13.fits", hdu: nil), configuration: configuration)
        (request.configuration.filter, request.configuration.seeing) = (.seeing, 3.456)
        var plan = SkyPlan(request)
        _ = plan.begin()
        _ = plan.completed(0, .sky(.inspected(info)))
        let sectors = try SectorGrid(info: info, configuration: configuration).sectors
        _ = plan.completed(1, .sky(.background(try tile(sectors[0]))))
        #expect(plan.completed(2, .sky(.background(try tile(sectors[1])))).newTasks == 2)
        guard case .extract(_, _, _, let used)? = plan.task(3)?.work.sky else {
            Issue.record("sectors follow at once")
            return
        }
        #expect(used.filter == .gaussian(fwhm: 3.46))
    }

    @Test func `the results of all sectors make the catalogue, in a fixed order`() throws {
        var plan = try measured(picture: nil)
        #expect(plan.task(5) == nil, "no picture was asked for")
        _ = plan.completed(
            4, .sky(.extracted(SectorResult(sector: 1, sources: [source(200, sector: 1)], truncatedSources: 0))))
        _ = plan.completed(
            3, .sky(.extracted(SectorResult(sector: 0, sources: [source(20, sector: 0)], truncatedSources: 1))))
        #expect(plan.phases.catalogue?.sources.map(\.x) == [20, 200])
        #expect(plan.phases.catalogue?.truncatedSources == 1)
    }

    @Test func `one sector can be made to fail, and a sector that does not exist is refused`() throws {
        let failing = try measured(failSector: 1)
        #expect(failing.task(3)?.rehearsal.failsFirstAttempt == false)
        #expect(failing.task(4)?.rehearsal.failsFirstAttempt == true)
        var beyond = plan(failSector: 2)
        _ = beyond.begin()
        #expect(beyond.completed(0, .sky(.inspected(info))).abort?.kind == .badInput)
    }

    @Test func `a failed header or background ends the job, a failed sector leaves a gap`() throws {
        var early = plan()
        _ = early.begin()
        let abort = early.failed(0, "the worker process was killed", isBadInput: false).abort
        #expect(abort == SkyError(.failed, "/data/m13.fits: the worker process was killed"))
        var plan = try measured()
        #expect(plan.failed(1, "/data/m13.fits: truncated", isBadInput: true).abort?.kind == .badInput)
        #expect(plan.failed(3, "overflow", isBadInput: false).abort == nil)
    }

    @Test func `an image that changes while it is scanned ends the job, whichever task finds it`() throws {
        for task in [1, 3, 4] {
            var plan = try measured()
            let reason = FileContent.changed("/data/m13.fits").message
            #expect(plan.failed(task, reason, isBadInput: true).abort == SkyError(.badInput, reason))
        }
        var plan = try measured()
        #expect(plan.failed(3, "/data/m13.fits: a damaged tile", isBadInput: true).abort == nil)
    }

    @Test func `objects larger than a sector are scanned after all sectors have ended`() throws {
        var plan = try measured()
        let piece = SectorResult.Fragment(
            outline: PixelRect(x: 20, y: 30, width: 108, height: 4), sources: [source(99, sector: 0)])
        #expect(!plan.completed(3, .sky(.extracted(SectorResult(sector: 0, fragments: [piece])))).isLast)
        // A sector that fails is settled too; what its neighbours saw in pieces is still joined.
        #expect(!plan.failed(4, "died", isBadInput: false).isLast)
        let preview = try ImagePreview(width: 256, height: 128, maximumSide: 400) { rect in
            [Float](repeating: 0, count: rect.width * rect.height)
        }
        let step = plan.completed(5, .sky(.preview(preview)))
        #expect(step.newTasks == 1 && step.isLast)
        #expect(plan.consequence(ofFailed: 4) == "the catalogue lacks columns 129 to 256, rows 1 to 128")
        #expect(plan.consequence(ofFailed: 5) == "there is no picture and no page; the catalogue is not affected")
        guard case .join(_, let union, _, _)? = plan.task(6)?.work.sky else {
            Issue.record("a union follows the picture")
            return
        }
        #expect(plan.task(6)?.label == "large objects 1")
        #expect(union.rect.contains(piece.outline) && union.pieces == [piece.outline])
        #expect(union.parts.map(\.rect.width) == [192, 0], "a failed sector has seen nothing")
        #expect(plan.phases.catalogue?.sources.map(\.x) == [99], "until the union has been scanned")
        let found = SectorResult(sector: -1, sources: [source(130, sector: 1)])
        #expect(!plan.accepts(6, .sky(.joined(JoinedObjects(rect: piece.outline, found: found)))))
        #expect(plan.completed(6, .sky(.joined(JoinedObjects(rect: union.rect, found: found)))).abort == nil)
        #expect(plan.phases.catalogue?.sources.map(\.x) == [130])
    }

    @Test func `a picture is encoded only where the request asks for it, and pixels will do`() throws {
        let preview = try ImagePreview(width: 256, height: 128, maximumSide: 400) { rect in
            [Float](repeating: 0, count: rect.width * rect.height)
        }
        for encodes in [true, false, nil] {
            let plan = try measured(drawsFirst: true, encodes: encodes)
            guard case .preview(_, 400, let asked)? = plan.task(3)?.work.sky else {
                Issue.record("the picture comes first")
                return
            }
            #expect(asked == encodes)
            #expect(plan.accepts(3, .sky(.preview(preview))), "from a worker of an earlier version")
            #expect(try plan.accepts(3, .sky(.preview(preview.encoded()))) == (encodes ?? false))
        }
    }

    @Test func `a task that killed two processes is given up unless the job sets its retries`() {
        var job = JobRequest(
            .sky(SkyRequest(image: ImageReference(path: "/m13.fits", hdu: nil), configuration: configuration)))
        #expect(job.schedulingOptions.crashes == 1)
        job.options.retries = 5
        #expect(job.schedulingOptions.crashes == nil)
        #expect(JobRequest(.simulate(SimulateRequest(tasks: 1, duration: .zero))).schedulingOptions.crashes == nil)
    }

    @Test func `dense sectors are the first to be scanned`() throws {
        var plan = plan()
        _ = plan.begin()
        _ = plan.completed(0, .sky(.inspected(info)))
        let sectors = try SectorGrid(info: info, configuration: configuration).sectors
        var tiles = try sectors.map(tile)
        (tiles[0].brightPixels, tiles[1].brightPixels) = (7, 8)
        for index in tiles.indices { _ = plan.completed(1 + index, .sky(.background(tiles[index]))) }
        #expect([3, 4].map { plan.task($0)?.label } == ["sector 2", "sector 1"])
        #expect(plan.accepts(3, .sky(.extracted(SectorResult(sector: 1)))))
    }

    @Test func `results with rectangles outside the image are refused`() throws {
        let plan = try measured()
        let beyond = PixelRect(x: 250, y: 0, width: .max, height: 4)
        #expect(!plan.accepts(3, .sky(.extracted(SectorResult(sector: 0, fragments: [.init(outline: beyond)])))))
        let whole = PixelRect(x: 0, y: 0, width: 256, height: 128)
        // The part belongs to another sector, or is too far away.
        #expect(
            !plan.accepts(
                3,
                .sky(.extracted(SectorResult(sector: 0, scanned: [ScannedPart(sector: 1, core: whole, rect: whole)])))))
        #expect(
            !plan.accepts(
                3,
                .sky(.extracted(SectorResult(sector: 0, scanned: [ScannedPart(sector: 0, core: whole, rect: whole)])))))
        let far = PixelRect(x: 200, y: 0, width: 4, height: 4)
        #expect(!plan.accepts(3, .sky(.extracted(SectorResult(sector: 0, fragments: [.init(outline: far)])))))
        var dark = try tile(try SectorGrid(info: info, configuration: configuration).sectors[0])
        dark.brightPixels = .min
        var early = self.plan()
        _ = early.begin()
        _ = early.completed(0, .sky(.inspected(info)))
        #expect(!early.accepts(1, .sky(.background(dark))))
        let part = ScannedPart(sector: 0, core: beyond, rect: beyond)
        #expect(!plan.accepts(3, .sky(.extracted(SectorResult(sector: 0, scanned: [part])))))
    }

    @Test func `the result of another task ends the job`() throws {
        var plan = plan()
        _ = plan.begin()
        #expect(plan.completed(0, .simulated).abort != nil)
        // Another sector's result would be dropped as a second one at the merge, and its own would be missing.
        var swapped = try measured()
        #expect(
            swapped.completed(3, .sky(.extracted(SectorResult(sector: 1, sources: [], truncatedSources: 0)))).abort
                != nil)
        var hostile = try measured()
        #expect(
            hostile.completed(3, .sky(.extracted(SectorResult(sector: 0, sources: [], truncatedSources: .max)))).abort
                != nil)
    }
}
