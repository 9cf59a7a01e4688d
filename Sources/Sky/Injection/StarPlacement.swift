import Base
import Glibc

/// The places of an injection's stars in an image, and their fluxes: uniform over the image and over the magnitudes.
struct StarPlacement {
    let stars: [InjectedStar]

    /// The number of tries for a place that is far enough from all others. At the highest density that is allowed, one in six
    /// succeeds.
    private static let tries = 1000

    /// - Throws: `.badInput` if the image has no room for the stars.
    init(_ injection: Injection, width: Int, height: Int) throws(SkyError) {
        try injection.validate()
        let capacity = injection.capacity(width: width, height: height)
        guard injection.count <= capacity else {
            throw SkyError(
                .badInput,
                "an image of \(width) x \(height) pixels has room for \(capacity) injected stars that do not disturb each "
                    + "other, not for \(injection.count)")
        }
        var random = RandomStream(seed: injection.seed, .injected)
        var places = Places(separation: injection.separation)
        let (left, right) = (injection.rim, Double(width) - 1 - injection.rim)
        let (bottom, top) = (injection.rim, Double(height) - 1 - injection.rim)
        var stars: [InjectedStar] = []
        stars.reserveCapacity(injection.count)
        for index in 0..<injection.count {
            // There is one star in each of equal steps of magnitude, so that no bin is empty by chance.
            let step = (Double(index) + random.uniform()) / Double(injection.count)
            let flux = injection.brightest * exp(step * log(injection.faintest / injection.brightest))
            for _ in 0..<Self.tries {
                let (x, y) = (random.uniform(left, right), random.uniform(bottom, top))
                guard places.take(x, y) else { continue }
                stars.append(InjectedStar(number: index + 1, x: x + 1, y: y + 1, flux: flux))
                break
            }
        }
        self.stars = stars
    }

    /// The places that are taken, in square cells as wide as the least distance of two stars.
    private struct Places {
        private struct Cell: Hashable {
            var column: Int
            var row: Int
        }

        let separation: Double
        private var cells: [Cell: [(x: Double, y: Double)]] = [:]

        init(separation: Double) { self.separation = separation }

        /// Takes a place unless another one is too near. Both coordinates must be inside an image.
        mutating func take(_ x: Double, _ y: Double) -> Bool {
            let home = Cell(column: Int(x / separation), row: Int(y / separation))
            for row in home.row - 1...home.row + 1 {
                for column in home.column - 1...home.column + 1 {
                    for other in cells[Cell(column: column, row: row)] ?? [] {
                        let (dx, dy) = (other.x - x, other.y - y)
                        if dx * dx + dy * dy < separation * separation { return false }
                    }
                }
            }
            cells[home, default: []].append((x, y))
            return true
        }
    }
}
