import Base
import CSEP
import Fixtures
import Testing

@testable import Sky

@Suite struct BackgroundMapTests {
    /// The frame minus SEP's own background, and SEP's global numbers.
    private func bySEP(_ frame: TestFrame, mesh: Int, filter: Int) throws -> (pixels: [Float], level: Float, rms: Float)
    {
        var pixels = frame.pixels
        var map: UnsafeMutablePointer<sep_bkg>?
        pixels.withUnsafeMutableBufferPointer { data in
            var image = sep_image()
            image.data = UnsafeRawPointer(data.baseAddress)
            image.dtype = SEP_TFLOAT
            image.w = Int32(frame.width)
            image.h = Int32(frame.height)
            sep_background(&image, Int32(mesh), Int32(mesh), Int32(filter), Int32(filter), 0, &map)
            sep_bkg_subarray(map, data.baseAddress, SEP_TFLOAT)
        }
        defer { sep_bkg_free(map) }
        return (pixels, sep_bkg_global(try #require(map)), sep_bkg_globalrms(map))
    }

    private func configuration(mesh: Int = 16, filter: Int = 3, sector: Int? = 64) -> ScanConfiguration {
        var configuration = ScanConfiguration()
        configuration.meshSize = mesh
        configuration.meshFilterSize = filter
        configuration.sectorSize = sector
        return configuration
    }

    private func map(_ frame: TestFrame, _ configuration: ScanConfiguration) throws -> BackgroundMap {
        let tiles = try SectorGrid(info: frame.info, configuration: configuration).sectors.map { sector in
            try BackgroundTile(pixels: frame.cut(sector.core), sector: sector, configuration: configuration)
        }
        return try BackgroundMap(tiles: tiles.reversed(), info: frame.info, configuration: configuration)
    }

    private func same(_ one: [Float], _ other: [Float]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { $0 == $1 || ($0.isNaN && $1.isNaN) }
    }

    private func frame(_ width: Int, _ height: Int, seed: UInt64 = 7) -> TestFrame {
        var frame = TestFrame(width: width, height: height, seed: seed)
        frame.addStars(width * height / 700)
        return frame
    }

    @Test(arguments: [
        (203, 150, 16, 3), (200, 128, 16, 5), (130, 40, 32, 1), (20, 200, 16, 3), (70, 16, 64, 3), (12, 9, 16, 3),
    ])
    func `tiles stitched together are SEP's background of the whole frame, bit for bit`(
        width: Int, height: Int, mesh: Int, filter: Int
    ) throws {
        let frame = frame(width, height)
        let expected = try bySEP(frame, mesh: mesh, filter: filter)
        let map = try map(frame, configuration(mesh: mesh, filter: filter))
        var pixels = frame.pixels
        map.subtract(from: &pixels, rect: frame.rect)
        #expect(same(pixels, expected.pixels))
        #expect(map.globalLevel == expected.level)
        #expect(map.globalRMS == expected.rms)
    }

    @Test func `meshes without data take their neighbours' level, as in SEP`() throws {
        var frame = frame(200, 170)
        frame.erase(PixelRect(x: 30, y: 20, width: 70, height: 66))
        frame.erase(PixelRect(x: 180, y: 0, width: 20, height: 170))
        let expected = try bySEP(frame, mesh: 16, filter: 3)
        let map = try map(frame, configuration())
        var pixels = frame.pixels
        map.subtract(from: &pixels, rect: frame.rect)
        #expect(same(pixels, expected.pixels))
        #expect(map.globalRMS == expected.rms)
    }

    @Test func `a frame without any data has level 0 and noise 1`() throws {
        var frame = frame(64, 64)
        frame.erase(frame.rect)
        let map = try map(frame, configuration())
        #expect(map.globalLevel == 0)
        #expect(map.globalRMS == 1)
    }

    @Test func `a rectangle gets the same numbers as the whole`() throws {
        let frame = frame(203, 150)
        let map = try map(frame, configuration())
        var whole = TestFrame(width: 203, height: 150, seed: 0)
        whole.pixels = frame.pixels
        map.subtract(from: &whole.pixels, rect: frame.rect)
        for rect in [PixelRect(x: 77, y: 31, width: 60, height: 50), PixelRect(x: 190, y: 140, width: 13, height: 10)] {
            var part = frame.cut(rect)
            map.subtract(from: &part, rect: rect)
            #expect(part == whole.cut(rect))
        }
    }

    @Test func `a map does not depend on the sectors it was made from`() throws {
        let frame = frame(300, 200)
        let maps = try [nil, 64, 128].map { try map(frame, configuration(sector: $0)) }
        #expect(maps[0] == maps[1] && maps[1] == maps[2])
    }

    @Test func `missing, doubled and foreign tiles are refused`() throws {
        let frame = frame(200, 150)
        let configuration = configuration()
        let tiles = try SectorGrid(info: frame.info, configuration: configuration).sectors.map { sector in
            try BackgroundTile(pixels: frame.cut(sector.core), sector: sector, configuration: configuration)
        }
        var foreign = tiles
        foreign[0].column = .max
        var short = tiles
        short[1].levels = PackedFloats([1])
        for wrong in [Array(tiles.dropLast()), tiles + [tiles[0]], foreign, short, []] {
            #expect(throws: SkyError.self) {
                try BackgroundMap(tiles: wrong, info: frame.info, configuration: configuration)
            }
        }
    }

    @Test func `floats travel as bytes with every bit`() {
        let values: [Float] = [0, -0.0, 1.5, .nan, .infinity, -.greatestFiniteMagnitude, .leastNonzeroMagnitude]
        #expect(PackedFloats(values).values.map(\.bitPattern) == values.map(\.bitPattern))
    }
}
