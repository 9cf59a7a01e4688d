/// The sectors that an object too large for any of them lies in, scanned once more as one rectangle: so that a satellite's
/// trail or a nebula is one object and not one in each sector.
public struct SectorUnion: Hashable, Codable, Sendable {
    /// The pixels to look at, more where the objects turn out larger.
    public var rect: PixelRect
    /// The boxes of the pieces that sectors saw of the objects.
    public var pieces: [PixelRect]
    /// Pieces that are an earlier union's: an object that has one of these is that one's, where both grow to hold it.
    public var taken: [PixelRect]
    /// The sectors around: a source that one of these could see whole is that one's.
    public var parts: [ScannedPart]

    /// Most pixels of a union, each some ten bytes of memory: larger ones stay in pieces.
    static let areaLimit = 1 << 28

    /// The unions that an image needs.
    ///
    /// - Parameters:
    ///   - sectors: All sectors of the image.
    ///   - results: Their results; sectors that failed have none.
    package static func unions(of results: [SectorResult], sectors: [Sector], info: ImageInfo) -> [SectorUnion] {
        let pieces = results.sorted { $0.sector < $1.sector }.flatMap { $0.fragments ?? [] }.map(\.outline)
        guard !pieces.isEmpty else { return [] }
        var rects: [PixelRect] = []
        for piece in pieces {
            // Pixels around the objects are measured too.
            var rect = piece.grown(by: 64, width: info.width, height: info.height)
            while let other = rects.firstIndex(where: { $0.intersects(rect) }) {
                rect = rect.union(rects.remove(at: other))
            }
            rects.append(rect)
        }
        let scanned = Dictionary(results.map { ($0.sector, $0.scanned) }) { one, _ in one }
        let parts = sectors.flatMap { sector in
            guard let known = scanned[sector.index] else {
                // Nobody else tells of what it would have told.
                return [
                    ScannedPart(
                        sector: sector.index, core: sector.core, rect: PixelRect(x: 0, y: 0, width: 0, height: 0))
                ]
            }
            return known ?? [ScannedPart(sector: sector.index, core: sector.core, rect: sector.padded)]
        }
        var taken: [PixelRect] = []
        return rects.filter { $0.area <= areaLimit }.sorted { ($0.y, $0.x) < ($1.y, $1.x) }.map { rect in
            // An object may reach beyond what sectors saw of it in pieces, into those that saw it whole, and into those
            // that failed, in whose places nobody has looked.
            let reach = parts.filter { $0.rect.intersects(rect) }.reduce(rect) { $0.union($1.rect) }
            let union = SectorUnion(
                rect: rect, pieces: pieces.filter(rect.contains), taken: taken,
                parts: parts.filter { $0.core.intersects(reach) || $0.rect.width == 0 })
            taken += union.pieces
            return union
        }
    }
}

/// The objects that a union was scanned for.
public struct JoinedObjects: Hashable, Codable, Sendable {
    /// The rectangle of the union: fragments in here are replaced.
    public var rect: PixelRect
    /// The sources; each has the sector in which its barycentre lies.
    public var found: SectorResult

    public init(rect: PixelRect, found: SectorResult) {
        self.rect = rect
        self.found = found
    }
}
