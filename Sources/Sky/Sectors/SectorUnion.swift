/// The sectors that one object covers which is too large for any of them, scanned once more as one rectangle. So a satellite's
/// trail or a nebula becomes one object, and not one in each sector.
public struct SectorUnion: Hashable, Codable, Sendable {
    /// The pixels to read first; more are read if the objects turn out larger.
    public var rect: PixelRect
    /// The boxes of the pieces of the objects that sectors saw.
    public var pieces: [PixelRect]
    /// The pieces of earlier unions. If two unions grow to hold the same object, the earlier union reports it.
    public var taken: [PixelRect]
    /// The sectors around. A source belongs to one of these if that sector could see the whole source.
    public var parts: [ScannedPart]

    /// The largest number of pixels of a union, each of which takes some ten bytes of memory. Larger objects stay in pieces.
    static let areaLimit = 1 << 28

    /// The unions that an image needs.
    ///
    /// - Parameters:
    ///   - results: The results of the sectors; sectors that failed have none.
    ///   - sectors: All sectors of the image.
    package static func unions(of results: [SectorResult], sectors: [Sector], info: ImageInfo) -> [SectorUnion] {
        let pieces = results.sorted { $0.sector < $1.sector }.flatMap { $0.fragments ?? [] }.map(\.outline)
        guard !pieces.isEmpty else { return [] }
        var rects: [PixelRect] = []
        for piece in pieces {
            // The rim is there because pixels around the objects are measured too.
            var rect = piece.grown(by: 64, width: info.width, height: info.height)
            while let other = rects.firstIndex(where: { $0.intersects(rect) }) {
                rect = rect.union(rects.remove(at: other))
            }
            rects.append(rect)
        }
        let scanned = Dictionary(results.map { ($0.sector, $0.scanned) }) { one, _ in one }
        let parts = sectors.flatMap { sector in
            guard let known = scanned[sector.index] else {
                // No other sector reports the sources of a sector that failed.
                return [
                    ScannedPart(
                        sector: sector.index, core: sector.core, rect: PixelRect(x: 0, y: 0, width: 0, height: 0))
                ]
            }
            return known ?? [ScannedPart(sector: sector.index, core: sector.core, rect: sector.padded)]
        }
        var taken: [PixelRect] = []
        return rects.filter { $0.area <= areaLimit }.sorted { ($0.y, $0.x) < ($1.y, $1.x) }.map { rect in
            // An object may reach beyond the pieces that sectors saw, into sectors that saw it whole and into sectors that
            // failed. No other scan has read the places of the latter.
            let reach = parts.filter { $0.rect.intersects(rect) }.reduce(rect) { $0.union($1.rect) }
            let union = SectorUnion(
                rect: rect, pieces: pieces.filter(rect.contains), taken: taken,
                parts: parts.filter { $0.core.intersects(reach) || $0.rect.width == 0 })
            taken += union.pieces
            return union
        }
    }
}

/// The objects for which a union was scanned.
public struct JoinedObjects: Hashable, Codable, Sendable {
    /// The rectangle of the union; its objects replace the fragments in it.
    public var rect: PixelRect
    /// The sources; each has the sector in which its barycentre lies.
    public var found: SectorResult

    public init(rect: PixelRect, found: SectorResult) {
        self.rect = rect
        self.found = found
    }
}
