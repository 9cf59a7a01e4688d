/// A map from one pair of coordinates to another, both given as polynomials.
package struct PositionMap: Hashable, Codable, Sendable {
    var x: BivariatePolynomial
    var y: BivariatePolynomial

    /// The map that takes `points` to `images` as closely as possible; `nil` if these do not determine one.
    package init?(from points: [(x: Double, y: Double)], to images: [(x: Double, y: Double)], degree: Int) {
        guard points.count == images.count,
            let x = BivariatePolynomial(points: points, values: images.map(\.x), degree: degree),
            let y = BivariatePolynomial(points: points, values: images.map(\.y), degree: degree)
        else { return nil }
        (self.x, self.y) = (x, y)
    }

    /// The shift by the median step from `points` to `images`; `nil` if there are none.
    package init?(shiftFrom points: [(x: Double, y: Double)], to images: [(x: Double, y: Double)]) {
        guard let dx = RobustStatistics.median(zip(points, images).map { $1.x - $0.x }),
            let dy = RobustStatistics.median(zip(points, images).map { $1.y - $0.y }), dx.isFinite, dy.isFinite
        else { return nil }
        x = BivariatePolynomial(constant: dx, x: 1, y: 0)
        y = BivariatePolynomial(constant: dy, x: 0, y: 1)
    }

    /// The place that `point` is taken to.
    func callAsFunction(_ point: (x: Double, y: Double)) -> (x: Double, y: Double) {
        (x.value(point.x, point.y), y.value(point.x, point.y))
    }

    /// The highest degree that this number of exact points determines, with some points to spare.
    static func degree(exact count: Int) -> Int {
        count >= 20 ? 3 : count >= 9 ? 2 : 1
    }

    /// The highest degree that this number of measured points determines, because their errors must average out.
    static func degree(measured count: Int) -> Int {
        count >= 150 ? 3 : count >= 50 ? 2 : count >= 6 ? 1 : 0
    }
}
