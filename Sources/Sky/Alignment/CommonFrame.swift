/// The sources of two images in the same coordinates, those of the new image's pixels, counted from 0.
struct CommonFrame {
    /// The places of the new image's sources.
    let new: [(x: Double, y: Double)]
    /// The places of the old image's sources where they should be on the new image.
    let old: [(x: Double, y: Double)]
    /// The places of the old image's sources in its own pixels.
    let oldPixels: [(x: Double, y: Double)]
    /// The degree of a polynomial that leads from one to the other.
    let degree: Int
    /// The number of pixels of the new image in an arcsecond; `nil` if celestial coordinates do not lead from one image to the
    /// other.
    let pixelsPerArcsecond: Double?

    /// Uses the pixels alone, as if the telescope had not moved.
    init?(pixels new: [Source], _ old: [Source]) {
        guard new.count >= 3, old.count >= 3 else { return nil }
        self.new = new.map(Self.pixel)
        oldPixels = old.map(Self.pixel)
        self.old = oldPixels
        degree = 1
        pixelsPerArcsecond = nil
    }

    /// Uses the celestial coordinates. The new image's projection is learnt from its own sources, each of which has both kinds
    /// of coordinates. That needs no header, and is as exact as a cubic can follow the projection.
    init?(sky new: [Source], _ old: [Source]) {
        let known = new.filter { $0.alphaWindow != nil }
        let places = known.compactMap(Self.sky)
        guard let projection = GnomonicProjection(around: places), places.count == known.count else { return nil }
        let flat = places.map { projection.place(alpha: $0.alpha, delta: $0.delta) ?? (.nan, .nan) }
        let usable = flat.indices.filter { flat[$0].x.isFinite }
        degree = PositionMap.degree(exact: min(usable.count, old.count))
        guard
            let toPixels = PositionMap(
                from: usable.map { flat[$0] }, to: usable.map { Self.pixel(known[$0]) }, degree: degree)
        else { return nil }
        let olds = old.map { source -> (x: Double, y: Double)? in
            Self.sky(source).flatMap { projection.place(alpha: $0.alpha, delta: $0.delta) }.map { toPixels($0) }
        }
        // A source without a place in the sky is not near any other.
        guard olds.count(where: { $0 != nil }) >= 3 else { return nil }
        self.new = new.map(Self.pixel)
        oldPixels = old.map(Self.pixel)
        self.old = olds.map { $0 ?? (.nan, .nan) }
        let (o, a, b) = (toPixels((0, 0)), toPixels((1, 0)), toPixels((0, 1)))
        pixelsPerArcsecond = abs((a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x)).squareRoot()
    }

    /// The windowed position, counted from 0.
    static func pixel(_ source: Source) -> (x: Double, y: Double) { (source.xWindow - 1, source.yWindow - 1) }

    private static func sky(_ source: Source) -> (alpha: Double, delta: Double)? {
        guard let alpha = source.alphaWindow, let delta = source.deltaWindow, alpha.isFinite, delta.isFinite else {
            return nil
        }
        return (alpha, delta)
    }
}
