/// The outline of a source: its Kron ellipse in pixels, counted from 1.
struct SourceEllipse: Hashable {
    var x: Double
    var y: Double
    /// Semi-axes in pixels.
    var major: Double
    var minor: Double
    /// The angle of the major axis from x towards y.
    var degrees: Double

    /// No object in an image is larger, but a damaged result might say so.
    private static let largest = 1e6

    /// A circle.
    init(x: Double, y: Double, radius: Double) {
        (self.x, self.y, major, minor, degrees) = (x, y, radius, radius, 0)
    }

    /// - Parameter minimumRadius: The smallest length of the semi-axes, so that the outline can be seen.
    /// - Returns: `nil` for a source without a position.
    init?(_ source: Source, minimumRadius: Double) {
        guard abs(source.x) < Self.largest, abs(source.y) < Self.largest else { return nil }
        x = source.x
        y = source.y
        func radius(_ axis: Double) -> Double {
            let radius = source.kronRadius * axis
            return radius.isFinite ? min(max(radius, minimumRadius), Self.largest) : minimumRadius
        }
        major = radius(source.a)
        minor = radius(source.b)
        degrees = source.theta.isFinite ? source.theta : 0
    }
}
