/// The map from pixels of the new image to those of the old one. Pixels are counted from 0, the first one's centre at (0, 0).
public struct EpochAlignment: Hashable, Codable, Sendable {
    /// The map from pixels of the new image to those of a perfect one: the difference of the two astrometries.
    private let correction: PositionMap
    /// The map from there to the old image's pixels, by both images' coordinates.
    private let base: PositionMap
    /// The number of sources that both images have.
    public let matches: Int
    /// Scatter of the bright ones' positions along one axis, in pixels (1 sigma).
    public let scatter: Double
    /// Whether the alignment comes from celestial coordinates, and not from the pattern of the stars.
    public let usesSky: Bool

    package init(correction: PositionMap, base: PositionMap, matches: Int, scatter: Double, usesSky: Bool) {
        self.correction = correction
        self.base = base
        self.matches = matches
        self.scatter = scatter
        self.usesSky = usesSky
    }

    /// The place in the old image of a place in the new one, both in pixels counted from 0.
    package func old(x: Double, y: Double) -> (x: Double, y: Double) { base(correction((x, y))) }

    /// The rectangle of the old image, of `info`'s size, that is needed for `rect` of the new one, with `rim` more pixels on
    /// each side; `nil` if the old image has no part of it.
    func oldRect(of rect: PixelRect, rim: Int, info: ImageInfo) -> PixelRect? {
        var (minX, minY, maxX, maxY) = (Double.infinity, Double.infinity, -Double.infinity, -Double.infinity)
        // The points are along the edges too, because the edges of a distorted rectangle bulge.
        let steps = 8
        for row in 0...steps {
            for column in 0...steps {
                let place = old(
                    x: Double(rect.x) + Double(rect.width - 1) * Double(column) / Double(steps),
                    y: Double(rect.y) + Double(rect.height - 1) * Double(row) / Double(steps))
                guard abs(place.x) < 1e9, abs(place.y) < 1e9 else { return nil }
                (minX, maxX) = (min(minX, place.x), max(maxX, place.x))
                (minY, maxY) = (min(minY, place.y), max(maxY, place.y))
            }
        }
        let left = max(Int(minX.rounded(.down)) - rim, 0)
        let top = max(Int(minY.rounded(.down)) - rim, 0)
        let right = min(Int(maxX.rounded(.up)) + rim + 1, info.width)
        let bottom = min(Int(maxY.rounded(.up)) + rim + 1, info.height)
        guard left < right, top < bottom else { return nil }
        // A wrong map must not make a sector read the whole image.
        guard right - left <= 2 * (rect.width + rect.height) + 4 * rim + 256,
            bottom - top <= 2 * (rect.width + rect.height) + 4 * rim + 256
        else { return nil }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }
}
