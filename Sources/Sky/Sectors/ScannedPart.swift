/// The pixels that one scan read, and the core of them that it owns: a sector, or a part of one.
public struct ScannedPart: Hashable, Codable, Sendable {
    /// Index of the sector in the grid.
    public var sector: Int
    /// A source with its barycentre in the core belongs to this part if its whole footprint lies in `rect`.
    public var core: PixelRect
    /// The pixels that were searched; empty if the scan failed.
    public var rect: PixelRect

    public init(sector: Int, core: PixelRect, rect: PixelRect) {
        self.sector = sector
        self.core = core
        self.rect = rect
    }
}

/// Whether rectangles hold objects, in an image of a certain size.
struct ObjectBounds {
    let info: ImageInfo
    /// The width of the rim around a footprint whose pixels decide its outline: the reach of the filter, and one more.
    let rim: Int

    /// Whether a footprint and all pixels that decide its outline lie in `rect`, unless the image ends there.
    func isComplete(_ outline: PixelRect, in rect: PixelRect) -> Bool {
        rect.width > 0 && rect.height > 0
            && (rect.x == 0 ? outline.x >= 0 : outline.x >= rect.x + rim)
            && (rect.y == 0 ? outline.y >= 0 : outline.y >= rect.y + rim)
            && (rect.right == info.width ? outline.right <= rect.right : outline.right <= rect.right - rim)
            && (rect.bottom == info.height ? outline.bottom <= rect.bottom : outline.bottom <= rect.bottom - rim)
    }

    /// Whether a barycentre, in pixels counted from 0, lies in `core`: half-open at [x - 0.5, x + width - 0.5). At the image's
    /// own edges the core has no end, because a barycentre weighted with filtered pixels may lie a little outside of the image.
    func owns(x: Double, y: Double, core: PixelRect) -> Bool {
        let (x, y) = (x + 0.5, y + 0.5)
        return (core.x == 0 || x >= Double(core.x)) && (core.right == info.width || x < Double(core.right))
            && (core.y == 0 || y >= Double(core.y)) && (core.bottom == info.height || y < Double(core.bottom))
    }
}
