import Base
import Glibc

/// Where an injection's stars are in an image, and how bright: uniform over the image and over the magnitudes.
struct StarPlacement {
    let stars: [InjectedStar]

    /// Tries for a place that is far enough from all others. At the densest that is allowed one in six succeeds.
    private static let tries = 1000

    /// - Throws: `.badInput` where the stars would crowd the image.
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
            // One star in each of as many equal steps of magnitude: no bin is empty by chance.
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

    /// The places that are taken, in square cells as wide as the stars are to be apart.
    private struct Places {
        private struct Cell: Hashable {
            var column: Int
            var row: Int
        }

        let separation: Double
        private var cells: [Cell: [(x: Double, y: Double)]] = [:]

        init(separation: Double) { self.separation = separation }

        /// Takes a place unless another is too near. Both coordinates are inside an image.
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
