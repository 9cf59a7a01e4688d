import Testing

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

@Suite struct PixelTilesTests {
    @Test func `the tiles of a rectangle cover it and no tile more`() {
        let tiles = PixelTiles(width: 1300, height: 700)
        let all = tiles.tiles(of: PixelRect(x: 0, y: 0, width: 1300, height: 700))
        #expect(all.count == 6 && all.compactMap(tiles.rect).map(\.area).reduce(0, +) == 1300 * 700)
        let one = tiles.tiles(of: PixelRect(x: 512, y: 511, width: 512, height: 1))
        #expect(one == [PixelTile(column: 1, row: 0)])
        let corner = tiles.tiles(of: PixelRect(x: 511, y: 511, width: 2, height: 2))
        #expect(corner.count == 4)
        #expect(tiles.rect(of: PixelTile(column: 2, row: 1)) == PixelRect(x: 1024, y: 512, width: 276, height: 188))
    }

    @Test(arguments: [(-1, 0), (0, -1), (3, 0), (0, 2), (Int.max, 0), (Int.min, Int.min)])
    func `a tile outside the image has no rectangle`(_ column: Int, _ row: Int) {
        #expect(PixelTiles(width: 1300, height: 700).rect(of: PixelTile(column: column, row: row)) == nil)
    }
}
