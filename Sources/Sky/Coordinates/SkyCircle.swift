import Base
import Glibc

/// A circle of the sky that contains an image.
package struct SkyCircle: Hashable, Codable, Sendable {
    /// Right ascension and declination of the middle, and the radius, in degrees.
    package var alpha: Double
    package var delta: Double
    package var radius: Double

    /// The circle around the centre of an image that contains its corners; `nil` if one of these points is not in the sky.
    init?(of wcs: WCSTransform, width: Int, height: Int) {
        let (right, top) = (Double(width) + 0.5, Double(height) + 0.5)
        let points = [((right + 0.5) / 2, (top + 0.5) / 2), (0.5, 0.5), (right, 0.5), (0.5, top), (right, top)]
        let places = wcs.sky(points.map { (x: $0.0, y: $0.1) }).compactMap(\.self)
        guard places.count == points.count else { return nil }
        (alpha, delta, radius) = (places[0].alpha, places[0].delta, 0)
        for place in places.dropFirst() { radius = max(radius, distance(alpha: place.alpha, delta: place.delta)) }
    }

    package func distance(to other: SkyCircle) -> Double { distance(alpha: other.alpha, delta: other.delta) }

    /// The distance along a great circle, in degrees (haversine formula).
    private func distance(alpha: Double, delta: Double) -> Double {
        let degree = Double.pi / 180
        let (across, along) = (sin((alpha - self.alpha) * degree / 2), sin((delta - self.delta) * degree / 2))
        let square = along * along + cos(delta * degree) * cos(self.delta * degree) * across * across
        return 2 * asin(min(1, square.squareRoot())) / degree
    }

    package func validate() throws(SkyError) {
        try SkyError.unless(
            (0...360).contains(alpha) && (-90...90).contains(delta) && (0...180).contains(radius),
            "a part of the sky that is none")
    }
}
