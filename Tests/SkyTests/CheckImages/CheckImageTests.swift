import Base
import Fixtures
import Foundation
import Testing

@testable import Sky

@Suite struct CheckImageTests {
    let folder = TemporaryFolder()

    /// Blends, a galaxy larger than a sector, faint neighbours of a bright star, and a hole.
    private func frame() -> TestFrame {
        var frame = TestFrame(width: 330, height: 290, seed: 17)
        frame.addStars(160)
        frame.addStar(x: 150, y: 140, flux: 900_000, sigma: 16, flattening: 0.6)
        for step in 0..<5 { frame.addStar(x: 120 + Double(step) * 12, y: 138, flux: 9000) }
        frame.addStar(x: 260.4, y: 60.2, flux: 300_000, sigma: 3)
        for (x, y) in [(272.0, 64.0), (252, 70), (262, 48)] { frame.addStar(x: x, y: y, flux: 900) }
        frame.erase(PixelRect(x: 40, y: 200, width: 30, height: 20))
        return frame
    }

    /// A plan carried out to its end.
    private func scanned(_ images: [CheckImage], sector: Int?) throws -> (plan: ScanPhases, catalogue: Catalogue) {
        let path = folder.write(frame().fits(cards: ["CRPIX1  = 12.5", "CD1_1   = 0.0001"]))
        var request = SkyRequest(image: ImageReference(path: path, hdu: nil), configuration: ScanConfiguration())
        (request.usesCache, request.checkImages) = (false, images)
        (request.configuration.sectorSize, request.configuration.meshSize) = (sector, 32)
        let engine = SkyEngine()
        var plan = ScanPhases(request)
        var (count, number) = (plan.begin().newWork, 0)
        while number < count {
            let work = try #require(plan.work(number))
            let step = plan.completed(number, try engine.perform(work))
            if let error = step.abort { throw error }
            (count, number) = (count + step.newWork, number + 1)
        }
        return (plan, try #require(plan.catalogue))
    }

    private func files(_ images: [CheckImage], sector: Int?) throws -> [[UInt8]] {
        let (plan, catalogue) = try scanned(images, sector: sector)
        let planes = try #require(plan.planes)
        var files = CheckImageFiles(images, of: catalogue.info)
        for number in 0..<planes.page(0).total { files.add(planes.page(number)) }
        var configuration = ScanConfiguration()
        configuration.sectorSize = sector
        let stem = folder.path + "/\(sector ?? 0)"
        var paths: [String] = []
        for _ in 0..<2 {
            let staged = StagedFiles()
            paths = try files.write(stem: stem, catalogue: catalogue, configuration: configuration, among: staged)
            try staged.place()
        }
        return try paths.map { Array(try Data(contentsOf: URL(fileURLWithPath: $0))) }
    }

    @Test func `sectors of any size give the same bytes`() throws {
        let whole = try files(CheckImage.allCases, sector: nil)
        #expect(whole.count == CheckImage.allCases.count && Set(whole.map(\.count)).count == 1)
        #expect(try files(CheckImage.allCases, sector: 64) == whole)
        #expect(try files(CheckImage.allCases, sector: 128) == whole)
    }

    @Test func `the segmentation numbers the catalogue's sources, and CLEAN's are part of the brighter one`() throws {
        let (plan, catalogue) = try scanned([.segmentation], sector: 64)
        let footprints = try #require(plan.planes).footprints
        let published = Set(footprints.map(\.number))
        #expect(published == Set(1...catalogue.sources.count))
        #expect(footprints.count > catalogue.sources.count, "some are cleaned away")
        var seen: Set<Int> = []
        for labelled in footprints {
            let source = catalogue.sources[labelled.number - 1]
            var pixels = 0
            labelled.footprint.forEachPixel(width: 330) { index in
                pixels += 1
                #expect(seen.insert(index).inserted)
            }
            #expect(pixels >= source.area || footprints.count { $0.number == labelled.number } > 1)
        }
    }

    @Test func `parts that were not requested or lie outside the image are refused`() throws {
        let (plan, _) = try scanned([.segmentation, .filtered], sector: 128)
        let info = try #require(plan.info)
        var footprint = try #require(plan.planes?.footprints.first?.footprint)
        #expect(footprint.isSound(in: info))
        for runs in [
            [0, 0], [-1, 0, 1], [0, -1, 1], [0, 0, 0], [0, 0, -5], [0, 329, 2], [290, 0, 1], [0, 0, .max],
            [.max, .max, .max],
        ] as [[Int32]] {
            footprint.runs = runs
            #expect(!footprint.isSound(in: info))
        }
        footprint.runs = (0..<291).flatMap { _ in [0, 0, 330] as [Int32] }
        #expect(!footprint.isSound(in: info), "more pixels than there are")
        let core = PixelRect(x: 0, y: 0, width: 4, height: 4)
        var planes = SectorCheckPixels(core: core)
        #expect(planes.isSound(of: core, []) && !planes.isSound(of: core, .filtered))
        planes.filtered = PackedFloats([1, 2])
        #expect(!planes.isSound(of: core, .filtered) && !planes.isSound(of: core, []))

        var files = CheckImageFiles([.segmentation, .subtracted], of: info)
        var page = CheckPixelsPage(total: 1)
        page.part = SectorCheckPixels(core: PixelRect(x: 300, y: 0, width: 64, height: 64))
        page.part?.subtracted = PackedFloats([1])
        page.footprints = [LabelledFootprint(number: .max, footprint: footprint)]
        files.add(page)
    }

    @Test func `check images with sectors that are too large are refused with a reason`() throws {
        var request = SkyRequest(image: ImageReference(path: "/x.fits", hdu: nil), configuration: ScanConfiguration())
        (request.checkImages, request.configuration.sectorSize) = ([.filtered], nil)
        func refusal(_ width: Int, _ height: Int) -> String? {
            var plan = ScanPhases(request)
            _ = plan.begin()
            let info = ImageInfo(width: width, height: height, bitpix: -32, hdu: 0, hasWCS: false)
            return plan.completed(0, .inspected(info)).abort?.message
        }
        #expect(refusal(4000, 4000)?.contains("smaller --sector") == true)
        #expect(refusal(2000, 2000) == nil)
        request.checkImages = [.background]
        #expect(refusal(4000, 4000) == nil)
        #expect(refusal(20_000, 20_000)?.contains("too many for check images") == true)
        request.checkImages = []
        #expect(SkyError.thrown { () throws(SkyError) in try request.validate() } != nil)
    }

    @Test func `only the coordinate cards of a header are copied`() {
        func card(_ name: String) -> String {
            let text = name + String(repeating: " ", count: 8 - name.count) + "= 1"
            return text + String(repeating: " ", count: 80 - text.count)
        }
        for name in [
            "CTYPE1", "CRVAL2", "CRPIX1A", "CD1_2", "PC2_1", "PV1_10", "A_0_2", "AP_1_1", "A_ORDER", "EQUINOX",
        ] {
            #expect(ImageCards.isOfPlace(card(name)), "\(name)")
        }
        for name in ["NAXIS1", "BSCALE", "BZERO", "BLANK", "SIMPLE", "DATASUM", "CTYPE3", "CRVAL3", "A_B", "COMMENT"] {
            #expect(!ImageCards.isOfPlace(card(name)), "\(name)")
        }
        #expect(!ImageCards.isOfPlace("CTYPE1  = 'RA'"))
    }
}
