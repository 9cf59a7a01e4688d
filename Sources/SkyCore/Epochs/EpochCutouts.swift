/// Two small pictures of a change: the reference resampled onto the new image's pixels, and the new image, with the same greys.
public struct EpochCutouts: Hashable, Codable, Sendable {
    /// PNG files.
    public let old: [UInt8]
    public let new: [UInt8]
    /// Pixels of the new image along a side.
    public let side: Int

    init(old: [UInt8], new: [UInt8], side: Int) { (self.old, self.new, self.side) = (old, new, side) }

    /// Smallest and largest side in pixels of the image, odd; picture pixels on the shorter side of a picture.
    private static let sides = 41...161
    private static let pictureSide = 200
    /// Pixels around a place that has to be seen.
    private static let rim = 14.0

    private static let ink = Raster.Ink(red: 1, green: 0.66, blue: 0.15, opacity: 0.8)

    /// Reads both images and draws them around the change; what one of them has not is black.
    ///
    /// - Throws: `SkyError` where an image cannot be read.
    package init(
        of change: EpochChange, new: EpochImage, old: EpochImage, order: DifferenceOrder
    ) throws(SkyError) {
        let place = (x: change.x - 1, y: change.y - 1)
        guard abs(place.x) < 1e7, abs(place.y) < 1e7 else {
            throw SkyError(.badInput, "a change at \(change.x), \(change.y) is not in the image")
        }
        let before = Self.before(change, order.alignment)
        let span = 2 * (max(abs(before.x - place.x), abs(before.y - place.y)) / 2 + Self.rim)
        let half = min(max(Int(span.isFinite ? min(span, 1000) : 0), Self.sides.lowerBound), Self.sides.upperBound) / 2
        let shows = span <= Double(Self.sides.upperBound)
        let centre = (
            x: Int((shows ? (place.x + before.x) / 2 : place.x).rounded()),
            y: Int((shows ? (place.y + before.y) / 2 : place.y).rounded())
        )
        side = 2 * half + 1
        let wanted = PixelRect(x: centre.x - half, y: centre.y - half, width: side, height: side)
        var (news, olds) = ([Float](repeating: .nan, count: side * side), [Float](repeating: .nan, count: side * side))
        if let rect = wanted.clipped(width: new.info.width, height: new.info.height) {
            let frame = try PairFrame(
                rect: rect, new: new, old: old, order: order, lanczos: LanczosFilter(), isClean: false)
            let alone = frame == nil ? try new.read(rect, saturation: nil) : nil
            for y in 0..<rect.height {
                for x in 0..<rect.width {
                    let (from, to) = (y * rect.width + x, (y + rect.y - wanted.y) * side + x + rect.x - wanted.x)
                    if let alone {
                        if alone.mask[from].isEmpty { news[to] = alone.values[from] }
                    } else if let frame, !frame.mask[from].contains(.missing) {
                        news[to] = frame.new.values[from]
                        olds[to] = frame.old.values[from] * Float(order.ratio)
                    }
                }
            }
        }
        let stretch = GreyStretch(samplesOf: news + olds)
        let marks = (
            old: (x: before.x - Double(wanted.x), y: before.y - Double(wanted.y)),
            new: (x: place.x - Double(wanted.x), y: place.y - Double(wanted.y))
        )
        self.old = try Self.png(stretch.apply(to: olds), side: side, mark: marks.old)
        self.new = try Self.png(stretch.apply(to: news), side: side, mark: marks.new)
    }

    /// Where the source of a change was, in pixels of the new image: elsewhere only if it moved.
    private static func before(_ change: EpochChange, _ alignment: EpochAlignment) -> (x: Double, y: Double) {
        let place = (x: change.x - 1, y: change.y - 1)
        guard change.kind == .moved else { return place }
        // A step each way says how the old image's pixels lie; it is the same all over a cut-out.
        let (o, a, b) = (
            alignment.old(x: place.x, y: place.y), alignment.old(x: place.x + 1, y: place.y),
            alignment.old(x: place.x, y: place.y + 1)
        )
        let (ax, ay, bx, by) = (a.x - o.x, a.y - o.y, b.x - o.x, b.y - o.y)
        let determinant = ax * by - ay * bx
        guard abs(determinant) > 1e-6 else { return place }
        let (dx, dy) = (change.xOld - 1 - o.x, change.yOld - 1 - o.y)
        let before = (
            x: place.x + (dx * by - dy * bx) / determinant, y: place.y + (ax * dy - ay * dx) / determinant
        )
        return before.x.isFinite && before.y.isFinite ? before : place
    }

    private static func png(
        _ greys: [UInt8], side: Int, mark: (x: Double, y: Double)
    ) throws(SkyError) -> [UInt8] {
        let scale = max((pictureSide + side - 1) / side, 1)
        var raster = Raster(width: side * scale, height: side * scale)
        for y in 0..<raster.height {
            let row = (raster.height - 1 - y) / scale * side
            for x in 0..<raster.width { raster.setGrey(greys[row + x / scale], x: x, y: y) }
        }
        var ring = Source(
            x: (mark.x + 0.5) * Double(scale) - 0.5, y: Double(raster.height) - (mark.y + 0.5) * Double(scale) - 0.5,
            sector: 0)
        (ring.a, ring.b, ring.kronRadius) = (1, 1, 8 * Double(scale))
        if let ellipse = SourceEllipse(ring, minimumRadius: 1) { raster.stroke(ellipse, line: 1.5, ink: ink) }
        return try PNGWriter.encode(raster)
    }
}

extension PixelRect {
    /// The part of the rectangle that lies in an image of `width` x `height` pixels; `nil` where that is nothing.
    func clipped(width: Int, height: Int) -> PixelRect? {
        let (left, top) = (max(x, 0), max(y, 0))
        let (right, bottom) = (min(x + self.width, width), min(y + self.height, height))
        guard left < right, top < bottom else { return nil }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }
}
