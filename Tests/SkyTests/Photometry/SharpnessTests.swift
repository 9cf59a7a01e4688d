import Base
import Fixtures
import Testing

@testable import Sky

/// Hot pixels, cosmic rays, and stars that are neither.
@Suite struct SharpnessTests {
    private static let width = 480
    private static let height = 400

    /// Stars of one width in a raster, as bright as 15 to 2000 times the noise.
    private func stars(sigma: Double = 1.4, seed: UInt64 = 5) -> TestFrame {
        var frame = TestFrame(width: Self.width, height: Self.height, seed: seed)
        for row in 0..<9 {
            for column in 0..<11 {
                let (x, y) = (Double(column) * 42 + 22.1, Double(row) * 42 + 22.3)
                let (dx, dy) = (Double(column % 5) / 5, Double(row % 4) / 4)
                frame.addStar(x: x + dx, y: y + dy, flux: 900 * Double(1 + (row * 11 + column) * 2), sigma: sigma)
            }
        }
        return frame
    }

    private struct Place: Hashable {
        var x: Int
        var y: Int
    }

    /// Between the stars: pixels of 30 to 570 times the noise.
    private static let hot = (0..<24).map { Place(x: 44 + $0 % 8 * 42, y: 44 + $0 / 8 * 126) }

    private func brighten(_ frame: inout TestFrame, _ x: Int, _ y: Int, _ value: Float) {
        frame.pixels[y * frame.width + x] += value
    }

    private func withHotPixels(_ frame: TestFrame) -> TestFrame {
        var frame = frame
        for (index, place) in Self.hot.enumerated() {
            brighten(&frame, place.x, place.y, 5 * 30 * Float(1 + index * index / 29))
        }
        // Tracks: along a row, along a column, aslant, and two pixels thick.
        for step in 0..<9 {
            brighten(&frame, 60 + step, 86, 900)
            brighten(&frame, 150, 80 + step, 900)
            brighten(&frame, 190 + step, 82 + step, 900)
            brighten(&frame, 276 + step, 86 + step / 3, 900)
            brighten(&frame, 276 + step, 87 + step / 3, 600)
        }
        return frame
    }

    private func scanned(
        _ frame: TestFrame, sector: Int? = nil, _ change: (inout ScanConfiguration) -> Void = { _ in }
    ) throws -> Catalogue {
        var configuration = ScanConfiguration()
        configuration.sectorSize = sector
        change(&configuration)
        return try SkyScan(configuration).catalogue(
            of: .pixels(width: frame.width, height: frame.height, frame.pixels))
    }

    /// Whether what is found near a place, which counts from 0, is flagged; `nil` where nothing is.
    private func flag(_ catalogue: Catalogue, _ x: Int, _ y: Int, within reach: Double = 3) -> Int? {
        catalogue.sources.filter { abs($0.x - 1 - Double(x)) < reach && abs($0.y - 1 - Double(y)) < reach }
            .map(\.imageFlags).max()
    }

    private func flagged(_ catalogue: Catalogue) -> Int { catalogue.sources.count { $0.imageFlags != 0 } }

    @Test func `hot pixels and cosmic rays are flagged, and stars are not`() throws {
        let clean = try scanned(stars())
        #expect(clean.sources.count >= 95 && flagged(clean) == 0)
        let catalogue = try scanned(withHotPixels(stars()))
        for place in Self.hot {
            #expect(flag(catalogue, place.x, place.y) == 1, "\(place)")
        }
        for (x, y) in [(64, 86), (150, 84), (194, 86), (280, 88)] {
            #expect(flag(catalogue, x, y, within: 6) == 1, "track at \(x), \(y)")
        }
        #expect(flagged(catalogue) <= Self.hot.count + 4)
    }

    @Test func `a cosmic ray on a star is flagged, and other stars are not`() throws {
        var frame = stars()
        brighten(&frame, 22 + 42 * 5, 22 + 42 * 8 + 3, 3000)
        let catalogue = try scanned(frame)
        #expect(flag(catalogue, 22 + 42 * 5, 22 + 42 * 8, within: 4) == 1)
        #expect(flagged(catalogue) == 1)
    }

    @Test func `sectors of any size give the same sharpness to the last bit`() throws {
        func sources(_ sector: Int?) throws -> [Source] {
            try scanned(withHotPixels(stars()), sector: sector).sources.map {
                var source = $0
                source.sector = 0
                return source
            }
        }
        let whole = try sources(nil)
        #expect(whole.contains { $0.imageFlags != 0 } && whole.contains { $0.sharpness > 20 })
        #expect(try sources(128) == whole)
        #expect(try sources(64) == whole)
    }

    @Test(arguments: [1.3, 1.6, 2.0, 3.3, 6.0])
    func `stars of a width that is known are never sharp, however few pixels they cover`(fwhm: Double) throws {
        for seed in [1, 2, 3] as [UInt64] {
            let frame = stars(sigma: fwhm / Gaussian.fwhm, seed: seed)
            let catalogue = try scanned(frame) { $0.seeing = fwhm }
            #expect(catalogue.sources.count >= 80 && flagged(catalogue) == 0, "\(fwhm)")
            #expect(flagged(try scanned(frame)) == 0, "measured")
        }
    }

    @Test func `nothing is called sharp if the width of stars is unknown`() throws {
        var frame = TestFrame(width: 200, height: 200, seed: 3)
        for place in 0..<3 { frame.addStar(x: 40 + 50 * Double(place), y: 50, flux: 20_000) }
        brighten(&frame, 100, 150, 4000)
        let alone = try scanned(frame)
        #expect(alone.sources.count >= 4 && flagged(alone) == 0)
        #expect(try #require(alone.sources.map(\.sharpness).max()) > 100, "what was measured is there")
        #expect(flagged(try scanned(frame) { $0.seeing = 3.3 }) == 1)
    }

    @Test func `saturated stars and their trails are not sharp, and saturated hot pixels are`() throws {
        var frame = stars()
        let top: Float = 40_000
        for (x, length) in [(150, 30), (234, 55)] {
            frame.addStar(x: Double(x), y: 127, flux: 3_000_000)
            for y in 127 - length...127 + length { frame.pixels[y * frame.width + x] = 60_000 }
            // The last pixel of a trail is half full.
            frame.pixels[(128 + length) * frame.width + x] = 20_000
        }
        brighten(&frame, 400, 253, 60_000)
        frame.pixels = frame.pixels.map { min($0, top) }
        let catalogue = try scanned(frame) { $0.saturation = Double(top) }
        #expect(catalogue.sources.count { $0.flags & SourceFlags.saturated.rawValue != 0 } >= 3)
        #expect(flag(catalogue, 400, 253) == 1)
        #expect(flagged(catalogue) == 1)
    }

    @Test func `at edges and beside missing pixels the existing neighbours decide`() throws {
        var frame = stars()
        brighten(&frame, 0, 127, 4000)
        brighten(&frame, 200, 0, 4000)
        // Its row has no usable neighbours, and its column has.
        brighten(&frame, 127, 127, 4000)
        frame.erase(PixelRect(x: 128, y: 120, width: 6, height: 12))
        // Neither the row nor the column has usable neighbours.
        brighten(&frame, 253, 127, 4000)
        for (x, y) in [(252, 127), (253, 126)] { frame.erase(PixelRect(x: x, y: y, width: 1, height: 1)) }
        let catalogue = try scanned(frame)
        #expect(flag(catalogue, 0, 127) == 1)
        #expect(flag(catalogue, 200, 0) == 1)
        #expect(flag(catalogue, 127, 127) == 1)
        #expect(flag(catalogue, 253, 127) == 0)
        #expect(flagged(catalogue) == 3)
    }

    @Test func `neither the unit of the pixels nor the filter changes what is sharp`() throws {
        let frame = withHotPixels(stars())
        let count = flagged(try scanned(frame))
        var small = frame
        small.pixels = frame.pixels.map { $0 * 0x1p-90 }
        #expect(flagged(try scanned(small)) == count)
        for filter in [DetectionFilter.seeing, .gaussian(fwhm: 3)] {
            let catalogue = try scanned(frame) { $0.filter = filter }
            // A wide filter does not see the faintest; what it sees is flagged.
            let seen = Self.hot.compactMap { flag(catalogue, $0.x, $0.y) }
            #expect(seen.count > Self.hot.count / 2 && seen.allSatisfy { $0 == 1 }, "\(filter): \(seen)")
        }
    }

    @Test func `the photons of bright stars do not make them sharp`() throws {
        // Electrons, with hardly any noise of the detector: single photons stand out.
        var frame = TestFrame(width: Self.width, height: Self.height, seed: 8, noise: 1)
        frame.pixels = frame.pixels.map { ($0 - 500) / 100 + 5 }
        for row in 0..<9 {
            for column in 0..<11 {
                frame.addStar(
                    x: Double(column) * 42 + 22.4, y: Double(row) * 42 + 22.3, flux: 60 * Double(1 + row * 11 + column),
                    sigma: 1.5)
            }
        }
        var random = SplitMix64(seed: 77)
        frame.pixels = frame.pixels.map { $0 + ($0 > 0 ? $0 : 0).squareRoot() * Float(random.normal()) }
        let catalogue = try scanned(frame) { $0.gain = 1 }
        #expect(catalogue.sources.count >= 90 && flagged(catalogue) == 0)
    }

    @Test func `a source that CLEAN absorbs passes on its sharpness`() throws {
        var (bright, faint) = (Source(x: 50, y: 50, sector: 0), Source(x: 50, y: 53, sector: 0))
        (bright.sharpness, faint.sharpness) = (1.5, 40)
        bright.takeIn(faint)
        #expect(bright.sharpness == 40)
    }

    @Test func `an impossible sharpness is refused, and a valid one survives the wire`() throws {
        var source = Source(x: 3, y: 4, sector: 0)
        (source.sharpness, source.imageFlags) = (12.5, 1)
        var numbers: [Double] = []
        source.append(to: &numbers)
        #expect(numbers.withUnsafeBufferPointer { Source($0) } == source)
        for broken in [Double.nan, .infinity, -.infinity, 0, 0.999, 1000.5, -1] {
            var row = numbers
            row[24] = broken
            #expect(row.withUnsafeBufferPointer { Source($0) } == nil, "\(broken)")
        }
        for broken in [Double.nan, .infinity, 0.5] {
            var row = numbers
            row[23] = broken
            #expect(row.withUnsafeBufferPointer { Source($0) } == nil, "\(broken)")
        }
    }

    @Test func `flags that a worker sets are ignored`() {
        var source = Source(x: 3, y: 4, sector: 0)
        source.imageFlags = 255
        let info = ImageInfo(width: 10, height: 10, bitpix: -32, hdu: 0, hasWCS: false)
        let result = SectorResult(sector: 0, sources: [source])
        #expect(Catalogue(merging: [result], info: info, seeing: 3).sources.map(\.imageFlags) == [0])
    }
}
