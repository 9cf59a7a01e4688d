import Base

/// Draws the changes of one sector. It finds only once, for all of them, how the seeing differs there.
///
/// Its calls block.
package struct CutoutPainter {
    private let new: EpochImage
    private let old: EpochImage
    private let order: DifferenceOrder
    private let widths: DifferenceImage.Widths
    private let lanczos = LanczosFilter()
    /// The match of the seeing. It is found with the first change that both images cover.
    private var match: SeeingMatch?

    /// The smallest and the largest side in pixels of the image, odd; below, the pixels on the shorter side of a picture.
    private static let sides = 41...161
    private static let pictureSide = 200
    /// The pixels around a place that must be in the picture.
    private static let rim = 14.0

    private static let ink = Raster.Ink(red: 1, green: 0.66, blue: 0.15, opacity: 0.8)
    /// The colour of pixels that were not compared. It is not a grey, because every grey stands for a value.
    private static let blank = Raster.Ink(red: 0.13, green: 0.2, blue: 0.36, opacity: 1)

    typealias Place = (x: Double, y: Double)

    package init(new: EpochImage, old: EpochImage, order: DifferenceOrder) {
        (self.new, self.old, self.order) = (new, old, order)
        widths = DifferenceImage.Widths(order)
    }

    /// Reads both images and draws them around the change. Pixels that one of them does not have are black there, and blue in
    /// the difference.
    ///
    /// - Throws: `SkyError` if an image cannot be read.
    package mutating func cutouts(of change: EpochChange) throws(SkyError) -> EpochCutouts {
        let place = (x: change.x - 1, y: change.y - 1)
        guard abs(place.x) < 1e7, abs(place.y) < 1e7 else {
            throw SkyError(.badInput, "a change at \(change.x), \(change.y) is not in the image")
        }
        let before = before(change)
        let wanted = Self.square(around: place, and: before)
        let (olds, news) = try pixels(in: wanted)
        let stretch = GreyStretch(samplesOf: news + olds)
        func mark(_ place: Place) -> Place { (place.x - Double(wanted.x), place.y - Double(wanted.y)) }
        func png(_ greys: [UInt8], _ marks: [Place], hasValue: (Int) -> Bool = { _ in true }) throws(SkyError)
            -> [UInt8]
        {
            try Self.png(greys, side: wanted.width, marks: marks, hasValue: hasValue)
        }
        let difference = try difference(in: wanted)
        return EpochCutouts(
            old: try png(stretch.apply(to: olds), [mark(before)]),
            new: try png(stretch.apply(to: news), [mark(place)]),
            difference: try png(
                NoiseGreys.apply(to: difference), change.kind == .moved ? [mark(before), mark(place)] : [mark(place)],
                hasValue: { !difference[$0].isNaN }),
            side: wanted.width)
    }

    /// The square to draw: it covers both places, unless it would be too large.
    private static func square(around place: Place, and before: Place) -> PixelRect {
        let span = 2 * (max(abs(before.x - place.x), abs(before.y - place.y)) / 2 + rim)
        let half = min(max(Int(span.isFinite ? min(span, 1000) : 0), sides.lowerBound), sides.upperBound) / 2
        let shows = span <= Double(sides.upperBound)
        let centre = (
            x: Int((shows ? (place.x + before.x) / 2 : place.x).rounded()),
            y: Int((shows ? (place.y + before.y) / 2 : place.y).rounded())
        )
        return PixelRect(x: centre.x - half, y: centre.y - half, width: 2 * half + 1, height: 2 * half + 1)
    }

    /// The pixels of both images as they are, NaN where an image has none.
    private func pixels(in wanted: PixelRect) throws(SkyError) -> (old: [Float], new: [Float]) {
        var news = [Float](repeating: .nan, count: wanted.area)
        var olds = news
        guard let rect = wanted.clipped(width: new.info.width, height: new.info.height) else { return (olds, news) }
        let frame = try PairFrame(rect: rect, new: new, old: old, order: order, lanczos: lanczos, isClean: false)
        // The frame is taken apart outside of the loops: each of its parts would be counted anew for each pixel.
        if let frame {
            let (mask, new, old) = (frame.mask, frame.new.values, frame.old.values)
            let ratio = Float(order.ratio)
            for (from, to) in Self.indices(of: rect, in: wanted) where !mask[from].contains(.missing) {
                news[to] = new[from]
                olds[to] = old[from] * ratio
            }
        } else {
            let (values, mask, _) = try new.read(rect, saturation: nil)
            for (from, to) in Self.indices(of: rect, in: wanted) where mask[from].isEmpty { news[to] = values[from] }
        }
        return (olds, news)
    }

    /// The difference in the form in which changes are searched, in units of the noise around; NaN where one of the images has
    /// no pixels.
    package mutating func difference(in wanted: PixelRect) throws(SkyError) -> [Float] {
        var values = [Float](repeating: .nan, count: wanted.area)
        let (width, height) = (new.info.width, new.info.height)
        guard let inner = wanted.clipped(width: width, height: height) else { return values }
        let rect = inner.grown(by: widths.margin, width: width, height: height)
        guard let frame = try PairFrame(rect: rect, new: new, old: old, order: order, lanczos: lanczos) else {
            return values
        }
        let smoothed = frame.new.smoothed(sigma: widths.filterSigma)
        let kernel = try kernel(frame, smoothed: smoothed)
        let matched = frame.old.convolved(with: kernel.values, radius: kernel.radius)
        let (difference, mask) = (smoothed.combined(with: matched) { $0 - $1 }, frame.mask)
        // The pixels for which the kernel would need pixels beyond the frame are left out.
        let whole = inner.grown(by: max(widths.margin - kernel.radius, 0), width: width, height: height)
        let part = PixelRect(x: whole.x - rect.x, y: whole.y - rect.y, width: whole.width, height: whole.height)
        let noise = NoiseGrid(
            difference.part(part), mask: mask.part(part, width: rect.width), cell: max(whole.width, whole.height))
        guard noise.sigma > 0 else { return values }
        let level = noise.level(x: 0, y: 0)
        for (from, to) in Self.indices(of: inner, in: wanted) {
            let (row, column) = from.quotientAndRemainder(dividingBy: inner.width)
            let index = (row + inner.y - rect.y) * rect.width + column + inner.x - rect.x
            guard !mask[index].contains(.missing) else { continue }
            values[to] = (difference.values[index] - level) / noise.sigma
        }
        return values
    }

    private mutating func kernel(_ frame: PairFrame, smoothed: PixelArray) throws(SkyError) -> MatchingKernel {
        if let match { return match.kernel }
        let found = try SeeingMatch(
            order, widths, frame: frame, smoothed: smoothed, noise: NoiseGrid(smoothed, mask: frame.mask).sigma,
            new: new, old: old, lanczos: lanczos)
        match = found
        return found.kernel
    }

    /// The place where the source of a change was, in pixels of the new image. It differs from the place of the change only if
    /// the source moved.
    private func before(_ change: EpochChange) -> Place {
        let place = (x: change.x - 1, y: change.y - 1)
        guard change.kind == .moved else { return place }
        // One step along each axis tells how the old image's pixels lie, which is the same all over a cut-out.
        let alignment = order.alignment
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

    /// The pixels of `rect`, row by row, each with its index in `wanted`.
    private static func indices(of rect: PixelRect, in wanted: PixelRect) -> [(from: Int, to: Int)] {
        (0..<rect.area).map { from in
            let (row, column) = from.quotientAndRemainder(dividingBy: rect.width)
            return (from, (row + rect.y - wanted.y) * wanted.width + column + rect.x - wanted.x)
        }
    }

    private static func png(
        _ greys: [UInt8], side: Int, marks: [Place], hasValue: (Int) -> Bool
    ) throws(SkyError) -> [UInt8] {
        let scale = max((pictureSide + side - 1) / side, 1)
        var raster = Raster(width: side * scale, height: side * scale)
        for y in 0..<raster.height {
            let row = (raster.height - 1 - y) / scale * side
            raster.setGreys((row..<row + side).map { hasValue($0) ? greys[$0] : 0 }[...], scale: scale, y: y)
            for x in 0..<raster.width where !hasValue(row + x / scale) {
                raster.blend(blank, coverage: 1, x: x, y: y)
            }
        }
        for mark in marks {
            var ring = Source(
                x: (mark.x + 0.5) * Double(scale) - 0.5,
                y: Double(raster.height) - (mark.y + 0.5) * Double(scale) - 0.5, sector: 0)
            (ring.a, ring.b, ring.kronRadius) = (1, 1, 8 * Double(scale))
            if let ellipse = SourceEllipse(ring, minimumRadius: 1) { raster.stroke(ellipse, line: 1.5, ink: ink) }
        }
        return try PNGWriter.encode(raster)
    }
}
