import Base
import Fixtures
import Foundation
import Testing

@testable import Sky

/// The difference image that is written.
@Suite struct DifferenceFileTests {
    private let study = EpochStudy()
    private let folder = TemporaryFolder()
    private static let star = PaintedEpoch.lonely(x: 201.4, y: 150.7, flux: 6000)

    /// Another night with a new star, and the comparison's parts with a side of their own.
    private func parts(side: Int, tellsPixels: Bool = true) throws -> (
        planes: [DifferencePixels], results: [(order: DifferenceOrder, result: DifferenceResult)], new: PaintedEpoch,
        catalogue: Catalogue
    ) {
        let old = PaintedEpoch()
        var new = PaintedEpoch()
        (new.fwhm, new.dx, new.dy, new.seed, new.extra) = (3.8, 6.3, -4.6, 2, [Self.star])
        let (one, other) = (try study.scan(new), try study.scan(old))
        let pair = try EpochPair(new: Epoch(catalogue: one.catalogue), old: Epoch(catalogue: other.catalogue))
        var configuration = ScanConfiguration()
        configuration.sectorSize = side
        let sectors = try SectorGrid(info: one.catalogue.info, configuration: configuration).sectors
        let results = try sectors.map { sector in
            let order = pair.order(for: sector, tellsPixels: tellsPixels)
            return (order, try DifferenceScan(new: one.image, old: other.image, order: order).run())
        }
        return (results.compactMap { $0.1.planes }, results, new, one.catalogue)
    }

    @Test func `a difference file has the light of a new star, and empty sky scatters by its noise`() throws {
        let (planes, results, new, catalogue) = try parts(side: 512)
        let info = catalogue.info
        var file = try DifferenceFile(of: info)
        for part in planes { file.add(part) }
        let path = folder.path + "/a.difference.fits"
        for _ in 0..<2 {
            let files = StagedFiles()
            try file.write(to: path, catalogue: catalogue, image: "a", reference: "b", among: files)
            try files.place()
        }
        let whole = PixelRect(x: 0, y: 0, width: info.width, height: info.height)
        let difference = try FITSImage(path: path, hdu: 1).read(whole)
        let noise = try FITSImage(path: path, hdu: 2).read(whole)
        let place = new.place(Self.star)
        var sum = 0.0
        for y in Int(place.y) - 12...Int(place.y) + 12 {
            for x in Int(place.x) - 12...Int(place.x) + 12 {
                let (dx, dy) = (Double(x) - place.x, Double(y) - place.y)
                if dx * dx + dy * dy <= 100 { sum += Double(difference[y * info.width + x]) }
            }
        }
        #expect(abs(sum / Self.star.flux - 1) < 0.15, "\(sum)")
        let ratios = zip(difference, noise).map { $0 / $1 }.filter(\.isFinite)
        #expect(ratios.count > info.width * info.height / 2 && ratios.count < info.width * info.height)
        let spread = try #require(RobustStatistics.spread(ratios)).sigma
        #expect(spread > 0.9 && spread < 1.1, "\(spread)")
        // The old image does not reach the new one's edge.
        let hasGaps = difference.contains { $0.isNaN }
        #expect(hasGaps)
        let areSound = !results.isEmpty && results.allSatisfy { $0.result.isSound(of: $0.order) }
        #expect(areSound)
    }

    @Test func `pixels that were not requested or belong elsewhere are refused`() throws {
        let (_, results, _, _) = try parts(side: 512)
        let (order, result) = try #require(results.first { $0.result.planes != nil })
        #expect(result.isSound(of: order))
        var silent = order
        silent.tellsPixels = nil
        #expect(!result.isSound(of: silent))
        let core = order.sector.core
        #expect(
            result.planes?.isSound(of: PixelRect(x: core.x + 1, y: core.y, width: core.width, height: core.height))
                == false)
        let without = try parts(side: 512, tellsPixels: false).planes
        #expect(without.isEmpty)
    }

    @Test func `an image that is too large for memory is refused with a reason`() {
        // One image is slightly too large, and the size of the other overflows.
        let info = ImageInfo(width: 1 << 16, height: 1 << 15, bitpix: -32, hdu: 0, hasWCS: false)
        #expect(throws: SkyError.self) { _ = try DifferenceFile(of: info) }
        let endless = ImageInfo(width: .max, height: 2, bitpix: -32, hdu: 0, hasWCS: false)
        #expect(throws: SkyError.self) { _ = try DifferenceFile(of: endless) }
    }
}
