/// A rectangle of an image that one task scans: a core that it owns, and a margin that it only reads.
public struct Sector: Hashable, Codable, Sendable {
    /// Position in the grid, row by row from the image's first pixel.
    public var index: Int
    /// A source with its centroid in the core belongs to this sector. Cores tile the image without overlap.
    public var core: PixelRect
    /// The core and its margin, clipped to the image: the pixels that are read.
    public var padded: PixelRect

    public init(index: Int, core: PixelRect, padded: PixelRect) {
        self.index = index
        self.core = core
        self.padded = padded
    }
}
