/// The rectangle that one scan reads. It tells which measurements in the rectangle can be trusted.
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

    /// The sector that owns an object, if this scan reports the object; otherwise `nil`.
    func owner(of object: Detection) -> Int? {
        scope.owner(
            x: object.x + Double(rect.x), y: object.y + Double(rect.y), outline: outline(of: object), bounds)
    }

    /// Whether the scan read the footprint and all pixels that decide its outline, except beyond the image's edge.
    func isComplete(_ object: Detection) -> Bool { bounds.isComplete(outline(of: object), in: rect) }

    /// Whether an object that this scan reports may be part of this one.
    func concerns(_ object: Detection) -> Bool { scope.concerns(outline(of: object), bounds) }

    /// Whether the scan read the whole circle around the object, except for the part outside the image. A strip along the edge
    /// of the rectangle does not count, because a footprint that is cut to less than the minimum area there is not seen.
    func holds(_ object: Detection, radius: Double) -> Bool {
        let strip = Double(min(minimumArea, 32) + bounds.rim)
        let reach = radius + 1.5 + strip
        return (atLeft || object.x - reach >= 0) && (atRight || object.x + reach <= Double(rect.width - 1))
            && (atTop || object.y - reach >= 0) && (atBottom || object.y + reach <= Double(rect.height - 1))
    }

    /// Whether the scan read the apertures whose sizes are known before anything is measured.
    func holdsApertures(_ object: Detection, _ configuration: ScanConfiguration) -> Bool {
        let aperture = configuration.apertureDiameters.max() ?? 0
        return holds(
            object,
            radius: max(
                Photometry.momentRadius * Ellipse(object).a, aperture / 2, Double(SegmentMap.sight(of: object)) + 1))
    }

    /// Whether a measurement needs pixels beyond the image, by SExtractor's rules. The measurements are the circle of the
    /// growth curve, the fixed apertures, the Kron ellipse, and the window around its first and its last position.
    func cutsApertures(of object: Detection, _ ellipse: Ellipse, _ measured: Photometry, _ diameter: Double) -> Bool {
        let window = Photometry.windowReach * measured.halfLightRadius
        // The growth curve's last step needs one and a half more pixels.
        let circle = max(Photometry.momentRadius * ellipse.a + 1.5, diameter / 2, window)
        let kron = ellipse.extent(measured.kronRadius)
        return cutsCircle(object.x, object.y, circle) || cutsCircle(measured.window.x, measured.window.y, window)
            || cutsBox(object.x, object.y, kron.x, kron.y)
    }

    /// SExtractor rounds places towards zero here.
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

extension LocalBackground {
    /// - Parameter thickness: The thickness of the annulus, in pixels.
    init(around object: Detection, frame: SectorFrame, thickness: Int) {
        let info = frame.bounds.info
        // The rim is one pixel wider than the reach of the filter.
        end = object.turn.line + 2 - frame.bounds.rim
        func gap(_ size: Int, _ whole: Int) -> Int { size < whole / 2 ? size / 4 : (whole - size) / 4 }
        let (width, height) = (object.maxX - object.minX + 1, object.maxY - object.minY + 1)
        let (gapX, gapY) = (gap(width, info.width), gap(height, info.height))
        inner = PixelRect(
            x: object.minX - gapX, y: object.minY - gapY, width: width + 2 * gapX, height: height + 2 * gapY)
        outer = PixelRect(
            x: inner.x - thickness, y: inner.y - thickness, width: inner.width + 2 * thickness,
            height: inner.height + 2 * thickness)
        let (left, top) = (outer.x + frame.rect.x, outer.y + frame.rect.y)
        // SExtractor asks for one more column and one more line.
        isInImage =
            left >= 0 && top >= 0 && left + outer.width < info.width && top + outer.height < info.height
    }

    /// Whether the frame holds the annulus's pixels, if it has any, and those that decide which of them belong to sources.
    func isHeld(by frame: SectorFrame) -> Bool {
        guard isInImage else { return true }
        let (rect, strip) = (frame.rect, min(frame.minimumArea, 32) + frame.bounds.rim)
        return (rect.x == 0 || outer.x >= strip) && (rect.y == 0 || outer.y >= strip)
            && (rect.right == frame.bounds.info.width || outer.right + strip <= rect.width)
            && (rect.bottom == frame.bounds.info.height || outer.bottom + strip <= rect.height)
    }
}
