import Sky

/// What a node must know of an image whose pixels another node reads.
struct RemoteHeader: Codable {
    var info: ImageInfo
    /// The same as `ImageInfo.header`.
    var cards: [String]
    /// The header that holds the image's coordinates, byte by byte, with 80 bytes for each card; empty if there are no
    /// coordinates.
    var coordinates: [UInt8]
    /// The tables of distortions that the coordinates name; `nil` if they name none.
    var lookupTables: [LookupTable]?
    /// For a cube, the place of the plane along the axes beyond the second.
    var plane: [Int]?
}
