import Glibc

/// The coordinates in which motions are followed: the sky around the reference image in arcseconds, or its pixels if it has no
/// celestial coordinates. Every comparison with the same reference has the same ones, regardless of errors in its own
/// coordinates.
package struct ReferenceFrame: Hashable, Codable, Sendable {
    private let sky: PositionMap?
    /// The number of units in a pixel: arcseconds, or 1.
    package let scale: Double

    /// Learns the coordinates from the catalogue's sources, each of which has both pixel and celestial coordinates.
    init(_ catalogue: Catalogue) {
        var known: [(pixel: (x: Double, y: Double), sky: (alpha: Double, delta: Double))] = []
        for source in catalogue.sources {
            guard let alpha = source.alphaWindow, let delta = source.deltaWindow, alpha.isFinite, delta.isFinite,
                abs(source.xWindow) < 1e9, abs(source.yWindow) < 1e9
            else { continue }
            known.append(((source.xWindow, source.yWindow), (alpha, delta)))
        }
        known.sort { ($0.pixel.y, $0.pixel.x, $0.sky.alpha) < ($1.pixel.y, $1.pixel.x, $1.sky.alpha) }
        let projection = GnomonicProjection(around: known.map(\.sky))
        var points: [(x: Double, y: Double)] = []
        var places: [(x: Double, y: Double)] = []
        for star in known {
            guard let place = projection?.place(alpha: star.sky.alpha, delta: star.sky.delta) else { continue }
            points.append(star.pixel)
            places.append(place)
        }
        sky = PositionMap(from: points, to: places, degree: PositionMap.degree(exact: points.count))
        guard let sky else {
            scale = 1
            return
        }
        let (x, y) = (Double(catalogue.info.width) / 2, Double(catalogue.info.height) / 2)
        let (o, a, b) = (sky((x, y)), sky((x + 1, y)), sky((x, y + 1)))
        let area = abs((a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x))
        scale = area > 0 && area.isFinite ? area.squareRoot() : 1
    }

    /// The place of a pixel of the reference, counted from 1: arcseconds to the east and to the north.
    package func place(x: Double, y: Double) -> (x: Double, y: Double) {
        // Without celestial coordinates, east is in the direction of most pictures: against x.
        sky?((x, y)) ?? (-x, y)
    }

    /// The direction of a motion in degrees from north through east, 0..<360.
    package static func positionAngle(dx: Double, dy: Double) -> Double {
        let angle = atan2(dx, dy) * 180 / .pi
        return angle < 0 ? angle + 360 : angle
    }
}
