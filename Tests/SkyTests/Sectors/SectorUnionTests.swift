import Base
import Fixtures
import Testing

@testable import Sky

/// Objects larger than sectors.
@Suite struct SectorUnionTests {
    private let info = ImageInfo(width: 512, height: 256, bitpix: -32, hdu: 0, hasWCS: false)
    private let folder = TemporaryFolder()

    private func sectors(_ side: Int = 128) throws -> [Sector] {
        var configuration = ScanConfiguration()
        configuration.sectorSize = side
        configuration.margin = 32
        return try SectorGrid(info: info, configuration: configuration).sectors
    }

    private func result(_ sector: Int, _ pieces: [PixelRect]) -> SectorResult {
        SectorResult(sector: sector, fragments: pieces.map { SectorResult.Fragment(outline: $0) })
    }

    private func row(_ x: Int, _ y: Int, _ width: Int) -> PixelRect { PixelRect(x: x, y: y, width: width, height: 3) }

    @Test func `pieces that touch make one union, and others make their own`() throws {
        let results = [
            result(0, [row(10, 20, 150)]), result(1, [row(96, 20, 192)]), result(2, []), result(3, []),
            result(4, []), result(5, []), result(6, []), result(7, [row(352, 250, 160)]),
        ]
        let unions = SectorUnion.unions(of: results, sectors: try sectors(), info: info)
        #expect(unions.map(\.pieces.count) == [2, 1])
        #expect(unions[0].rect == PixelRect(x: 0, y: 0, width: 352, height: 87))
        #expect(unions[1].rect == PixelRect(x: 288, y: 186, width: 224, height: 70))
        #expect(unions[1].parts.map(\.sector).contains(7))
        #expect(SectorUnion.unions(of: [result(0, [])], sectors: try sectors(), info: info).isEmpty)
        // The order of the results does not matter.
        #expect(SectorUnion.unions(of: results.reversed(), sectors: try sectors(), info: info) == unions)
    }

    @Test func `a trail across the frame of a large camera is one union, one across a mosaic stays in pieces`() throws {
        for (side, count) in [(12_000, 1), (16_384, 1), (16_385, 0)] {
            let info = ImageInfo(width: side, height: side, bitpix: -32, hdu: 0, hasWCS: false)
            var configuration = ScanConfiguration()
            configuration.sectorSize = 1024
            let sectors = try SectorGrid(info: info, configuration: configuration).sectors
            let columns = (side - 1) / 1024 + 1
            // From corner to corner.
            let results = sectors.enumerated().map { index, sector in
                result(index, index / columns == index % columns ? [sector.padded] : [])
            }
            let unions = SectorUnion.unions(of: results, sectors: sectors, info: info)
            #expect(unions.count == count, "\(side)")
            #expect(unions.allSatisfy { $0.rect.area == side * side && $0.pieces.count == columns })
        }
    }

    @Test func `a source is reported by the sector that saw it whole or by the union, never by both`() throws {
        let bounds = ObjectBounds(info: info, rim: 2)
        let all = try sectors()
        let piece = row(40, 100, 120)
        let union = try #require(
            SectorUnion.unions(of: [result(0, [piece])] + (1...7).map { result($0, []) }, sectors: all, info: info)
                .first)
        // Whole in sector 0's pixels (0 to 160, less the rim) or not.
        for width in [117, 119] {
            let outline = row(40, 100, width)
            let inSector = bounds.isComplete(outline, in: all[0].padded)
            #expect(inSector == (width == 117))
            let owner = ScanScope.union(union).owner(x: 100, y: 101, outline: outline, bounds)
            #expect(owner == nil, "it does not hold the piece")
        }
        let whole = row(40, 100, 300)
        #expect(ScanScope.union(union).owner(x: 100, y: 101, outline: whole, bounds) == 0)
        #expect(ScanScope.union(union).owner(x: 200, y: 101, outline: whole, bounds) == 1)
        #expect(ScanScope.sector(all[1]).owner(x: 200, y: 101, outline: whole, bounds) == 1)
        #expect(!bounds.isComplete(whole, in: all[1].padded), "so the sector makes a fragment of it")
    }

    @Test func `fragments stay if no union replaces them`() {
        var one = result(0, [row(10, 20, 150)])
        one.fragments?[0].sources = [Source(x: 50, y: 21, sector: 0)]
        let joined = JoinedObjects(
            rect: PixelRect(x: 0, y: 0, width: 352, height: 87),
            found: SectorResult(sector: -1, sources: [Source(x: 60, y: 21, sector: 0)]))
        #expect(Catalogue(merging: [one], info: info).sources.map(\.x) == [50])
        #expect(Catalogue(merging: [one], info: info).truncatedSources == 1)
        #expect(Catalogue(merging: [one], joined: [joined], info: info).sources.map(\.x) == [60])
        #expect(Catalogue(merging: [one], joined: [joined], info: info).truncatedSources == 0)
    }

    /// The catalogue of a frame, by the way that jobs go.
    ///
    /// - Parameter lost: a sector that fails.
    private func scan(
        _ path: String, side: Int?, lost: Int? = nil, _ change: (inout SectorScan) -> Void = { _ in }
    ) throws -> (catalogue: Catalogue, unions: Int, quartered: Int) {
        var configuration = ScanConfiguration()
        configuration.sectorSize = side
        configuration.margin = 32
        configuration.meshSize = 32
        let engine = SkyEngine()
        let file = ImageReference(path: path, hdu: nil)
        let info = try engine.inspect(path: path, hdu: nil)
        let sectors = try SectorGrid(info: info, configuration: configuration).sectors
        let tiles = try sectors.map { try engine.background(in: file, sector: $0, configuration: configuration) }
        let map = try BackgroundMap(tiles: tiles, info: info, configuration: configuration)
        let image = try ScanImage(FITSImage(path: path, hdu: nil))
        let results = try sectors.filter { $0.index != lost }.map { sector in
            var scan = SectorScan(image: image, scope: .sector(sector), background: map, configuration: configuration)
            change(&scan)
            return try scan.run()
        }
        let unions = SectorUnion.unions(of: results, sectors: sectors, info: info)
        let joined = try unions.map {
            try engine.join(in: file, union: $0, background: map, configuration: configuration)
        }
        var catalogue = Catalogue(merging: results, joined: joined, info: info)
        for index in catalogue.sources.indices { catalogue.sources[index].sector = 0 }
        return (catalogue, unions.count, results.count { ($0.scanned?.count ?? 0) > 1 })
    }

    /// Two trails that cross, stars on and beside them, and a nebula.
    private func frame() -> TestFrame {
        var frame = TestFrame(width: 512, height: 256, seed: 21)
        frame.addStars(200)
        for step in 0..<5100 {
            let x = Double(step) / 10
            frame.addStar(x: x, y: 20 + 0.4 * x, flux: 150, sigma: 1.4)
            if x > 250 { frame.addStar(x: x, y: 240 - 0.3 * (x - 250), flux: 130, sigma: 1.4) }
        }
        frame.addStar(x: 90, y: 190, flux: 500_000, sigma: 18)
        return frame
    }

    @Test func `a trail across sectors is one source, and the catalogue is that of the whole image`() throws {
        let path = folder.write(frame().fits())
        let whole = try scan(path, side: nil)
        #expect(whole.unions == 0)
        for side in [64, 128, 256] {
            // Without growth every object on a sector's edge goes into a union.
            let parts = try scan(path, side: side) { $0.growthMinimum = 0 }
            #expect(parts.unions > 0)
            #expect(parts.catalogue.sources == whole.catalogue.sources, "sectors of \(side)")
            #expect(parts.catalogue.truncatedSources == 0)
        }
        let largest = try #require(whole.catalogue.sources.max { $0.a < $1.a })
        #expect(largest.a > 60, "the trail was made one object")
    }

    @Test func `a sector that is too crowded for SEP is split into quarters, with the same sources`() throws {
        let path = folder.write(frame().fits())
        let whole = try scan(path, side: nil)
        // The number of pixels that SEP needs for the fullest of the four sectors lies between these.
        for (limit, quartered) in [(6200, 1), (8000, 0)] {
            let parts = try scan(path, side: 256) { ($0.growthMinimum, $0.pixelStackLimit) = (0, limit) }
            #expect(parts.quartered == quartered)
            #expect(parts.catalogue.sources == whole.catalogue.sources, "a stack of \(limit)")
        }
        let error = SkyError.thrown { () throws(SkyError) in
            do {
                _ = try scan(path, side: 256) { $0.pixelStackLimit = 1024 }
            } catch let error as SkyError { throw error } catch {}
        }
        #expect(error?.kind == .failed && error?.message.contains("than SEP can hold") == true)
    }

    @Test func `a footprint with more branches than SEP can count stays whole and is flagged`() throws {
        var configuration = ScanConfiguration()
        configuration.meshSize = 32
        var frame = TestFrame(width: 256, height: 256, seed: 22)
        for index in 0..<100 {
            frame.addStar(x: 20 + Double(index % 10) * 12, y: 20 + Double(index / 10) * 12, flux: 150_000, sigma: 2.2)
        }
        let rect = frame.rect
        let scope = ScanScope.sector(Sector(index: 0, core: rect, padded: rect))
        let sectorFrame = SectorFrame(rect: rect, scope: scope, info: frame.info, configuration: configuration)
        let pixels = frame.pixels.map { $0 - 500 }
        try pixels.withUnsafeBufferPointer { pixels in
            let base = try #require(pixels.baseAddress)
            func flags(_ limit: Int) throws -> [Bool] {
                let detector = SectorDetector(
                    frame: sectorFrame, pixels: base, configuration: configuration, noise: 100, branchLimit: limit)
                let parents = try #require(try detector.footprints())
                let filtered = try FilteredPixels(
                    base, width: 256, height: 256, footprints: parents,
                    kernel: DetectionKernel(configuration.filter))
                return try detector.deblend(parents, filtered).objects.map(\.isUndivided)
            }
            #expect(try flags(SEPExtraction.branchLimit).count > 90)
            #expect(try flags(SEPExtraction.branchLimit).allSatisfy { !$0 })
            #expect(try flags(16).contains(true))
        }
    }

    @Test func `a trail is reported once even if the sector in its middle failed`() throws {
        var frame = TestFrame(width: 1024, height: 192, seed: 21)
        for step in 0..<10200 {
            frame.addStar(x: Double(step) / 10, y: 40 + 0.1 * Double(step) / 10, flux: 150, sigma: 1.4)
        }
        let path = folder.write(frame.fits())
        let (catalogue, unions, _) = try scan(path, side: 256, lost: 1) { $0.growthMinimum = 0 }
        #expect(unions == 2, "a gap lies between the pieces")
        #expect(catalogue.sources.count { $0.a > 60 } == 1)
    }
}
