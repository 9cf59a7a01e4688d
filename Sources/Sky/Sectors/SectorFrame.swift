/// The rectangle that one scan reads, and what of it can be trusted.
struct SectorFrame {
    let rect: PixelRect
    let scope: ScanScope
    let bounds: ObjectBounds
    let minimumArea: Int

    init(rect: PixelRect, scope: ScanScope, info: ImageInfo, configuration: ScanConfiguration) {
        (self.rect, self.scope) = (rect, scope)
        bounds = ObjectBounds(info: info, configuration: configuration)
        minimumArea = configuration.minimumArea
    }

    private var atLeft: Bool { rect.x == 0 }
    private var atTop: Bool { rect.y == 0 }
    private var atRight: Bool { rect.right == bounds.info.width }
    private var atBottom: Bool { rect.bottom == bounds.info.height }

    /// The box in the image of the footprint that an object was split from.
    func outline(of object: Detection) -> PixelRect {
        var outline = object.outline
        outline.x += rect.x
        outline.y += rect.y
        return outline
    }

    /// The sector whose source an object is, where it is this scan's to tell of it.
    func owner(of object: Detection) -> Int? {
        scope.owner(
            x: object.x + Double(rect.x), y: object.y + Double(rect.y), outline: outline(of: object), bounds)
    }

    /// Whether the footprint and all pixels that decide its outline were read, unless the image ends there.
    func isComplete(_ object: Detection) -> Bool { bounds.isComplete(outline(of: object), in: rect) }

    /// Whether what is to be told may be part of it.
    func concerns(_ object: Detection) -> Bool { scope.concerns(outline(of: object), bounds) }

    /// Whether a circle around the object was read, but for what lies outside the image. A strip along the edge of
    /// the rectangle does not count: a footprint cut to less than the minimum area there went unseen.
    func holds(_ object: Detection, radius: Double) -> Bool {
        let strip = Double(min(minimumArea, 32) + bounds.rim)
        let reach = radius + 1.5 + strip
        return (atLeft || object.x - reach >= 0) && (atRight || object.x + reach <= Double(rect.width - 1))
            && (atTop || object.y - reach >= 0) && (atBottom || object.y + reach <= Double(rect.height - 1))
    }

    /// Whether the apertures that are known before anything is measured were read.
    func holdsApertures(_ object: Detection, _ configuration: ScanConfiguration) -> Bool {
        let aperture = configuration.apertureDiameters.max() ?? 0
        return holds(
            object,
            radius: max(
                Photometry.momentRadius * Ellipse(object).a, aperture / 2, Double(SegmentMap.sight(of: object)) + 1))
    }

    /// Whether something that is measured asks for pixels beyond the image, as SExtractor counts: the circle of the growth
    /// curve, the fixed apertures, the Kron ellipse, the window around where it began and where it ended.
    func cutsApertures(of object: Detection, _ ellipse: Ellipse, _ measured: Photometry, _ diameter: Double) -> Bool {
        let window = Photometry.windowReach * measured.halfLightRadius
        // A pixel and a half more, for the growth curve's last step.
        let circle = max(Photometry.momentRadius * ellipse.a + 1.5, diameter / 2, window)
        let kron = ellipse.extent(measured.kronRadius)
        return cutsCircle(object.x, object.y, circle) || cutsCircle(measured.window.x, measured.window.y, window)
            || cutsBox(object.x, object.y, kron.x, kron.y)
    }

    /// SExtractor cuts places towards zero here.
    private func cutsCircle(_ x: Double, _ y: Double, _ radius: Double) -> Bool {
        let (x, y) = (x + Double(rect.x), y + Double(rect.y))
        return x - radius <= -1.5 || x + radius >= Double(bounds.info.width) - 0.5 || y - radius <= -1.5
            || y + radius >= Double(bounds.info.height) - 0.5
    }

    private func cutsBox(_ x: Double, _ y: Double, _ reachX: Double, _ reachY: Double) -> Bool {
        let (x, y) = (x + Double(rect.x), y + Double(rect.y))
        return x - reachX < -0.5 || x + reachX >= Double(bounds.info.width) - 0.5 || y - reachY < -0.5
            || y + reachY >= Double(bounds.info.height) - 0.5
    }

    /// Whether the footprint has pixels in the outermost rows or columns of the image.
    func touchesImageEdge(_ object: Detection) -> Bool {
        (atLeft && object.minX == 0) || (atRight && object.maxX == rect.width - 1)
            || (atTop && object.minY == 0) || (atBottom && object.maxY == rect.height - 1)
    }
}

extension ObjectBounds {
    init(info: ImageInfo, configuration: ScanConfiguration) {
        self.init(info: info, rim: DetectionKernel(configuration.filter).radius + 1)
    }
}
