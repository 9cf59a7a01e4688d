import Glibc

/// A rotation about the origin and a shift.
struct RigidMotion: Hashable, Sendable {
    private var cosine = 1.0
    private var sine = 0.0
    private var dx = 0.0
    private var dy = 0.0

    /// The motion that leaves every point in place.
    static let identity = RigidMotion()

    /// A shift without a rotation.
    init(dx: Double = 0, dy: Double = 0) {
        (self.dx, self.dy) = (dx, dy)
    }

    /// The motion that takes the middle of the line `a`-`b` to the middle of `c`-`d`, and turns it into that direction.
    init?(
        a: (x: Double, y: Double), b: (x: Double, y: Double), c: (x: Double, y: Double), d: (x: Double, y: Double)
    ) {
        let angle = atan2(d.y - c.y, d.x - c.x) - atan2(b.y - a.y, b.x - a.x)
        guard angle.isFinite else { return nil }
        (cosine, sine) = (cos(angle), sin(angle))
        let (mx, my) = ((a.x + b.x) / 2, (a.y + b.y) / 2)
        dx = (c.x + d.x) / 2 - (cosine * mx - sine * my)
        dy = (c.y + d.y) / 2 - (sine * mx + cosine * my)
    }

    /// The place to which a point moves.
    func callAsFunction(_ point: (x: Double, y: Double)) -> (x: Double, y: Double) {
        (cosine * point.x - sine * point.y + dx, sine * point.x + cosine * point.y + dy)
    }
}
