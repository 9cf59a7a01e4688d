import Glibc

/// Draws the stars and galaxies of a field: where they are, how bright, of what shape.
struct SkyPopulation {
    private let recipe: SkySynthesis
    private let plane: TangentPlane
    private let pointArea: Double

    init(_ recipe: SkySynthesis, pointArea: Double) {
        self.recipe = recipe
        self.pointArea = pointArea
        plane = TangentPlane(recipe)
    }

    /// The stars: uniform over the frame, the number growing with the magnitude.
    func stars() -> [TruthSource] {
        var random = RandomStream(seed: recipe.seed, purpose: 1)
        return (0..<recipe.starCount).map { _ in
            source(.star, &random, recipe.brightest...recipe.faintest, area: { _ in pointArea })
        }
    }

    /// The galaxies: 70 % discs, 30 % spheroids, of log-normal sizes that shrink towards faint magnitudes.
    func galaxies() -> [TruthSource] {
        var random = RandomStream(seed: recipe.seed, purpose: 2)
        return (0..<recipe.galaxyCount).map { _ in
            let axisRatio = random.uniform(0.25, 1)
            let angle = random.uniform(0, 180)
            let sersicIndex = random.uniform() < 0.7 ? 1 : 4
            let scatter = exp(0.45 * random.normal())
            var radius = 0.0
            var galaxy = source(.galaxy, &random, recipe.brightest + 3...recipe.faintest - 0.5) { magnitude in
                // The median of 3.2 pixels belongs to the default scale of 0.4 seconds of arc.
                let median = 3.2 * pow(10, -0.08 * (magnitude - 20)) * 0.4 / recipe.pixelScale
                radius = min(max(median * scatter, 1), 25)
                return pointArea + 6 * .pi * (0.6 * radius) * (0.6 * radius) * axisRatio
            }
            galaxy.radius = radius
            galaxy.axisRatio = axisRatio
            galaxy.angle = angle
            galaxy.sersicIndex = sersicIndex
            return galaxy
        }
    }

    private func source(
        _ kind: TruthSource.Kind, _ random: inout RandomStream, _ magnitudes: ClosedRange<Double>,
        area: (Double) -> Double
    ) -> TruthSource {
        let x = random.uniform(0.5, Double(recipe.width) + 0.5)
        let y = random.uniform(0.5, Double(recipe.height) + 0.5)
        let magnitude = Self.magnitude(random.uniform(), magnitudes, slope: recipe.slope)
        let flux = recipe.flux(magnitude: magnitude)
        let variance = flux / recipe.gain + area(magnitude) * recipe.skyVariance
        let position = plane.position(x: x, y: y)
        return TruthSource(
            kind: kind, x: x, y: y, alpha: position.alpha, delta: position.delta, magnitude: magnitude, flux: flux,
            signalToNoise: flux / variance.squareRoot())
    }

    /// Magnitude at the quantile `u` of dN/dm ~ 10^(slope m), by inverting the cumulative distribution.
    static func magnitude(_ u: Double, _ range: ClosedRange<Double>, slope: Double) -> Double {
        let span = range.upperBound - range.lowerBound
        let rate = slope * log(10.0)
        // The limit of a flat distribution; the general formula would divide 0 by 0.
        guard rate * span > 1e-9 else { return range.lowerBound + u * span }
        return range.lowerBound + log(1 + u * (exp(rate * span) - 1)) / rate
    }
}
