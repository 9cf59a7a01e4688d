/// A smooth function of the position: a polynomial in x and y of a total degree of at most three.
struct BivariatePolynomial: Hashable, Codable, Sendable {
    /// Total degree, 0 to 3.
    private(set) var degree: Int
    /// The place where both variables are 0; below, their scale, because powers of numbers around one keep their digits.
    private var x0: Double
    private var y0: Double
    private var scale: Double
    /// The coefficients of 1, x, y, x^2, xy, y^2, x^3, x^2 y, x y^2, y^3.
    private var coefficients: [Double]

    /// Highest degree.
    static let largestDegree = 3

    /// The number of coefficients of a polynomial of `degree`.
    static func terms(_ degree: Int) -> Int { (degree + 1) * (degree + 2) / 2 }

    /// The same value everywhere.
    init(constant: Double) {
        (degree, x0, y0, scale, coefficients) = (0, 0, 0, 1, [constant])
    }

    /// A linear function.
    init(constant: Double, x: Double, y: Double) {
        (degree, x0, y0, scale, coefficients) = (1, 0, 0, 1, [constant, x, y])
    }

    /// The polynomial that fits `values` at `points` best; `nil` if these do not determine one.
    ///
    /// - Parameter weights: One over the variance of each value; all are equal if it is empty.
    init?(points: [(x: Double, y: Double)], values: [Double], weights: [Double] = [], degree: Int) {
        let degree = min(max(degree, 0), Self.largestDegree)
        guard points.count >= Self.terms(degree), values.count == points.count else { return nil }
        let (minX, maxX) = (points.map(\.x).min() ?? 0, points.map(\.x).max() ?? 0)
        let (minY, maxY) = (points.map(\.y).min() ?? 0, points.map(\.y).max() ?? 0)
        self.degree = degree
        (x0, y0) = ((minX + maxX) / 2, (minY + maxY) / 2)
        scale = max(maxX - minX, maxY - minY) / 2
        if !(scale > 0) { scale = 1 }
        coefficients = []
        var equations = NormalEquations(count: Self.terms(degree))
        for index in points.indices {
            let row = powers(points[index].x, points[index].y)
            equations.add(row[...], value: values[index], weight: weights.isEmpty ? 1 : weights[index])
        }
        guard let solution = equations.solved() else { return nil }
        coefficients = solution
    }

    private func powers(_ x: Double, _ y: Double) -> [Double] {
        let (u, v) = ((x - x0) / scale, (y - y0) / scale)
        var row = [1.0]
        if degree >= 1 { row += [u, v] }
        if degree >= 2 { row += [u * u, u * v, v * v] }
        if degree >= 3 { row += [u * u * u, u * u * v, u * v * v, v * v * v] }
        return row
    }

    /// The value at a place.
    func value(_ x: Double, _ y: Double) -> Double {
        let c = coefficients
        let (u, v) = ((x - x0) / scale, (y - y0) / scale)
        var value = c[0]
        if c.count >= 3 { value += c[1] * u + c[2] * v }
        if c.count >= 6 { value += c[3] * u * u + c[4] * u * v + c[5] * v * v }
        if c.count >= 10 { value += u * u * (c[6] * u + c[7] * v) + v * v * (c[8] * u + c[9] * v) }
        return value
    }
}

extension BivariatePolynomial {
    /// Decodes a polynomial and refuses one that has no value.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        degree = try container.decode(Int.self, forKey: .degree)
        x0 = try container.decode(Double.self, forKey: .x0)
        y0 = try container.decode(Double.self, forKey: .y0)
        scale = try container.decode(Double.self, forKey: .scale)
        coefficients = try container.decode([Double].self, forKey: .coefficients)
        guard (0...Self.largestDegree).contains(degree), coefficients.count == Self.terms(degree),
            (coefficients + [x0, y0, scale]).allSatisfy(\.isFinite), scale > 0
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .coefficients, in: container, debugDescription: "a polynomial that has no value")
        }
    }
}
