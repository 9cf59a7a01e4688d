import Sky

/// What a node must know of an image whose pixels another node reads.
struct RemoteHeader: Codable {
    var info: ImageInfo
    /// As `ImageInfo.header`.
    var cards: [String]
    /// The header that has its coordinates, byte by byte, 80 a card; empty without coordinates.
    var coordinates: [UInt8]
    /// Tables of distortions that these name; `nil` where they name none.
    var lookupTables: [LookupTable]?
    /// Of a cube, the place of the plane along the axes beyond the second.
    var plane: [Int]?
}
