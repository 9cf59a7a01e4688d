/// What a scan is to tell of: the sources of a sector, or the objects that were too large for theirs.
enum ScanScope {
    case sector(Sector)
    case union(SectorUnion)

    /// The pixels to begin with.
    var rect: PixelRect {
        switch self {
        case .sector(let sector): sector.padded
        case .union(let union): union.rect
        }
    }

    /// The sector whose source it is, where a source with this barycentre is this scan's.
    ///
    /// Every scan of an image asks the same of the same numbers: whether the part that owns the barycentre could see the whole
    /// footprint. So of a sector and a union one and only one tells of it.
    ///
    /// - Parameter outline: The box in the image of the footprint that the source was split from.
    func owner(x: Double, y: Double, outline: PixelRect, _ bounds: ObjectBounds) -> Int? {
        switch self {
        case .sector(let sector):
            return bounds.owns(x: x, y: y, core: sector.core) ? sector.index : nil
        case .union(let union):
            guard concerns(outline, bounds) else { return nil }
            return union.parts.first { bounds.owns(x: x, y: y, core: $0.core) }
                .flatMap { bounds.isComplete(outline, in: $0.rect) ? nil : $0.sector }
        }
    }

    /// Whether a footprint with this box may be one to tell of.
    func concerns(_ outline: PixelRect, _ bounds: ObjectBounds) -> Bool {
        switch self {
        case .sector(let sector): outline.intersects(sector.core)
        case .union(let union):
            union.pieces.contains { outline.contains($0) } && !union.taken.contains { outline.contains($0) }
        }
    }
}
