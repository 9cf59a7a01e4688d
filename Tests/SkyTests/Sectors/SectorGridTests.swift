import Base
import Sky
import Testing

@Suite struct SectorGridTests {
    private func sectors(_ width: Int, _ height: Int, size: Int?, margin: Int = 64) throws -> [Sector] {
        var configuration = ScanConfiguration()
        configuration.sectorSize = size
        configuration.margin = margin
        let info = ImageInfo(width: width, height: height, bitpix: -32, hdu: 0, hasWCS: false)
        return try SectorGrid(info: info, configuration: configuration).sectors
    }

    @Test(arguments: [(1000, 700, 256), (256, 256, 256), (257, 1, 256), (64, 3000, 128)])
    func `cores cover every pixel once and begin at meshes`(width: Int, height: Int, size: Int) throws {
        var covered = [Int](repeating: 0, count: width * height)
        for (index, sector) in try sectors(width, height, size: size).enumerated() {
            #expect(sector.index == index)
            #expect(sector.core.x % 64 == 0 && sector.core.y % 64 == 0)
            for y in sector.core.y..<sector.core.y + sector.core.height {
                for x in sector.core.x..<sector.core.x + sector.core.width { covered[y * width + x] += 1 }
            }
        }
        #expect(covered.allSatisfy { $0 == 1 })
    }

    @Test func `a margin is clipped at the image's edges`() throws {
        let all = try sectors(600, 500, size: 256)
        #expect(all.count == 6)
        #expect(all[0].padded == PixelRect(x: 0, y: 0, width: 320, height: 320))
        #expect(all[4].padded == PixelRect(x: 192, y: 192, width: 384, height: 308))
        #expect(all[5].core == PixelRect(x: 512, y: 256, width: 88, height: 244))
    }

    @Test func `without a sector size the image is one sector`() throws {
        let all = try sectors(5000, 4000, size: nil)
        let whole = PixelRect(x: 0, y: 0, width: 5000, height: 4000)
        #expect(all == [Sector(index: 0, core: whole, padded: whole)])
    }

    @Test(arguments: [(0, 10), (-5, 10), (.max, .max), (65_536, 65_536)])
    func `an image of impossible size has no sectors`(width: Int, height: Int) {
        #expect(throws: SkyError.self) { try sectors(width, height, size: 256) }
    }
}
