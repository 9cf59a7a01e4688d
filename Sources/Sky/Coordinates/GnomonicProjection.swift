import Glibc

/// The sky around a place on its tangent plane: the gnomonic projection of Calabretta and Greisen (2002, A&A 395, 1077,
/// section 5.1.3), in which great circles are straight lines.
struct GnomonicProjection: Hashable, Codable, Sendable {
    /// Right ascension and declination in degrees of the tangent point.
    let alpha: Double
    let delta: Double

    private static let radian = Double.pi / 180

    init(alpha: Double, delta: Double) {
        (self.alpha, self.delta) = (alpha, delta)
    }

    /// The projection around the middle of some places, which also works across right ascension 0 and at the poles; `nil` if
    /// there are none.
    init?(around places: [(alpha: Double, delta: Double)]) {
        var (x, y, z) = (0.0, 0.0, 0.0)
        for place in places {
            let (a, d) = (place.alpha * Self.radian, place.delta * Self.radian)
            x += cos(d) * cos(a)
            y += cos(d) * sin(a)
            z += sin(d)
        }
        // Places all over the sky have no middle.
        guard (x * x + y * y + z * z).squareRoot() > 0.1 * Double(places.count), !places.isEmpty else { return nil }
        alpha = atan2(y, x) / Self.radian
        delta = atan2(z, (x * x + y * y).squareRoot()) / Self.radian
    }

    /// Arcseconds to the east and to the north; `nil` for a place 80 degrees or more away.
    func place(alpha: Double, delta: Double) -> (x: Double, y: Double)? {
        let (east, north, depth) = direction(alpha: alpha, delta: delta)
        guard depth > 0.17 else { return nil }
        let arcsecond = 3600 / Self.radian
        return (east / depth * arcsecond, north / depth * arcsecond)
    }

    /// A place as a unit vector: to the east, to the north, and towards the tangent point. Divided by the last, the first
    /// two are its place on the tangent plane, in radians; of the far half of the sky it is not above 0.
    func direction(alpha: Double, delta: Double) -> (east: Double, north: Double, depth: Double) {
        let (a, d) = ((alpha - self.alpha) * Self.radian, delta * Self.radian)
        let (s0, c0) = (sin(self.delta * Self.radian), cos(self.delta * Self.radian))
        let (sine, cosine) = (sin(d), cos(d))
        return (cosine * sin(a), sine * c0 - cosine * s0 * cos(a), sine * s0 + cosine * c0 * cos(a))
    }
}
