import Base

extension BackgroundMap {
    /// Stitches the tiles of all sectors of an image, in any order, and filters the result.
    ///
    /// - Throws: `.failed` if tiles are missing, overlap or belong to another image.
    public init(tiles: [BackgroundTile], info: ImageInfo, configuration: ScanConfiguration) throws(SkyError) {
        try self.init(tiles: tiles, width: info.width, height: info.height, configuration: configuration)
    }
}
