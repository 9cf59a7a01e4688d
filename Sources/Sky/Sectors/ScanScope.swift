/// What a scan reports: the sources of a sector, or the objects that were too large for their sectors.
enum ScanScope {
    case sector(Sector)
    case union(SectorUnion)

    /// The pixels that are read first.
    var rect: PixelRect {
        switch self {
        case .sector(let sector): sector.padded
        case .union(let union): union.rect
        }
    }

    /// The sector of a source with this barycentre if the source belongs to this scan, otherwise `nil`.
    ///
    /// Every scan of an image makes the same test with the same numbers: whether the part that owns the barycentre could see
    /// the whole footprint. So exactly one scan, of a sector or of a union, reports the source.
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

    /// Whether an object that this scan reports may have a footprint with this box.
    func concerns(_ outline: PixelRect, _ bounds: ObjectBounds) -> Bool {
        switch self {
        case .sector(let sector): outline.intersects(sector.core)
        case .union(let union):
            union.pieces.contains { outline.contains($0) } && !union.taken.contains { outline.contains($0) }
        }
    }
}
