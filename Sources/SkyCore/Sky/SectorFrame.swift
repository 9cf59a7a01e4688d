/// The rectangle that one scan of a sector reads, and what of it can be trusted.
struct SectorFrame {
    let rect: PixelRect
    let sector: Sector
    let info: ImageInfo
    let minimumArea: Int
    /// Pixels around a footprint that decide its outline: what the filter reaches, and one.
    let rim: Int

    init(rect: PixelRect, sector: Sector, info: ImageInfo, configuration: ScanConfiguration) {
        (self.rect, self.sector, self.info) = (rect, sector, info)
        minimumArea = configuration.minimumArea
        rim = DetectionKernel(configuration.filter).radius + 1
    }

    private var atLeft: Bool { rect.x == 0 }
    private var atTop: Bool { rect.y == 0 }
    private var atRight: Bool { rect.x + rect.width == info.width }
    private var atBottom: Bool { rect.y + rect.height == info.height }

    /// Whether the barycentre lies in the core, half-open at [x - 0.5, x + width - 0.5). At the image's own edges
    /// everything belongs: a barycentre weighted with filtered pixels may lie a little outside.
    func owns(_ object: Detection) -> Bool {
        let core = sector.core
        let x = object.x + Double(rect.x) + 0.5
        let y = object.y + Double(rect.y) + 0.5
        return (core.x == 0 || x >= Double(core.x))
            && (core.x + core.width == info.width || x < Double(core.x + core.width))
            && (core.y == 0 || y >= Double(core.y))
            && (core.y + core.height == info.height || y < Double(core.y + core.height))
    }

    /// Whether the footprint and all pixels that decide its outline were read, unless the image ends there.
    func isComplete(_ object: Detection) -> Bool {
        return (atLeft || object.minX >= rim) && (atRight || object.maxX < rect.width - rim)
            && (atTop || object.minY >= rim) && (atBottom || object.maxY < rect.height - rim)
    }

    /// Whether the footprint's box has pixels in the core, so that the core may own what it is made of.
    func reachesCore(_ object: Detection) -> Bool {
        let core = sector.core
        return object.maxX + rect.x >= core.x && object.minX + rect.x < core.x + core.width
            && object.maxY + rect.y >= core.y && object.minY + rect.y < core.y + core.height
    }

    /// Whether a circle around the object was read, but for what lies outside the image. A strip along the edge of
    /// the rectangle does not count: a footprint cut to less than the minimum area there went unseen.
    func holds(_ object: Detection, radius: Double) -> Bool {
        let strip = Double(min(minimumArea, 32) + rim)
        let reach = radius + 1.5 + strip
        return (atLeft || object.x - reach >= 0) && (atRight || object.x + reach <= Double(rect.width - 1))
            && (atTop || object.y - reach >= 0) && (atBottom || object.y + reach <= Double(rect.height - 1))
    }

    /// Whether the apertures that are known before anything is measured were read.
    func holdsApertures(_ object: Detection, _ configuration: ScanConfiguration) -> Bool {
        let aperture = configuration.apertureDiameters.max() ?? 0
        return holds(object, radius: max(Photometry.momentRadius * Ellipse(object).a, aperture / 2))
    }

    /// Whether the footprint has pixels in the outermost rows or columns of the image.
    func touchesImageEdge(_ object: Detection) -> Bool {
        (atLeft && object.minX == 0) || (atRight && object.maxX == rect.width - 1)
            || (atTop && object.minY == 0) || (atBottom && object.maxY == rect.height - 1)
    }
}

extension PixelRect {
    /// Number of pixels.
    var area: Int { width * height }
}
