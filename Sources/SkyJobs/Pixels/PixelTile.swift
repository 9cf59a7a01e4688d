import Sky

/// A square of an image: the unit in which pixels cross the wire and are kept.
package struct PixelTile: Hashable, Codable, Sendable {
    /// Counted from 0.
    package var column: Int
    package var row: Int

    package init(column: Int, row: Int) {
        (self.column, self.row) = (column, row)
    }
}

/// The tiles of an image: a fixed grid from its first pixel on, so that all nodes that ask for the same pixels ask for the
/// same tiles.
struct PixelTiles: Hashable, Sendable {
    let width: Int
    let height: Int

    /// Pixels along a tile's side. A quarter of a megapixel is some hundred kilobytes: large enough to make the request
    /// cheap, and little more than a sector needs.
    static let side = 512
    /// More tiles than the longest row of pixels has: cfitsio counts pixels in 32 bits.
    static let countLimit = Int(Int32.max) / side + 1

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
    }

    /// The pixels of a tile; `nil` if the tile is not in the image.
    func rect(of tile: PixelTile) -> PixelRect? {
        let side = PixelTiles.side
        guard (0...(width - 1) / side).contains(tile.column), (0...(height - 1) / side).contains(tile.row) else {
            return nil
        }
        let (x, y) = (tile.column * side, tile.row * side)
        return PixelRect(x: x, y: y, width: min(side, width - x), height: min(side, height - y))
    }

    /// The tiles that have pixels of `rect`, row by row. `rect` must be a part of the image.
    func tiles(of rect: PixelRect) -> [PixelTile] {
        let side = PixelTiles.side
        let columns = rect.x / side...(rect.right - 1) / side
        return (rect.y / side...(rect.bottom - 1) / side).flatMap { row in
            columns.map { PixelTile(column: $0, row: row) }
        }
    }
}
