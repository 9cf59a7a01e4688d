import Glibc

/// Draws the stars and galaxies of a field, with their positions, magnitudes and shapes.
struct SkyPopulation {
    private let recipe: SkySynthesis
    private let observation: Observation
    private let margin: Double

    /// - Parameter margin: The width in pixels of a border around the frame that is filled as densely as the frame.
    init(_ recipe: SkySynthesis, _ observation: Observation, margin: Double = 0) {
        self.recipe = recipe
        self.observation = observation
        self.margin = margin
    }

    /// The stars, which are uniform over the frame; their number grows with the magnitude.
    func stars() -> [TruthSource] {
        var random = RandomStream(seed: recipe.seed, .stars)
        return (0..<filling(recipe.starCount)).map { _ in
            observation.measured(source(.star, &random, recipe.brightest...recipe.faintest))
        }
    }

    /// The galaxies: 70 % discs, 30 % spheroids, of log-normal sizes that shrink towards faint magnitudes.
    func galaxies() -> [TruthSource] {
        var random = RandomStream(seed: recipe.seed, .galaxies)
        return (0..<filling(recipe.galaxyCount)).map { _ in
            let axisRatio = random.uniform(0.25, 1)
            let angle = random.uniform(0, 180)
            let sersicIndex = random.uniform() < 0.7 ? 1 : 4
            let scatter = exp(0.45 * random.normal())
            var galaxy = source(.galaxy, &random, recipe.brightest + 3...recipe.faintest - 0.5)
            // The median of 3.2 pixels belongs to the default scale of 0.4 seconds of arc.
            let median = 3.2 * pow(10, -0.08 * (galaxy.magnitude - 20)) * 0.4 / recipe.pixelScale
            galaxy.radius = min(max(median * scatter, 1), 25)
            galaxy.axisRatio = axisRatio
            galaxy.angle = angle
            galaxy.sersicIndex = sersicIndex
            return observation.measured(galaxy)
        }
    }

    /// The number of sources in the frame and the border, if the frame alone has `count`.
    private func filling(_ count: Int) -> Int {
        let (width, height) = (Double(recipe.width), Double(recipe.height))
        let share = (width + 2 * margin) * (height + 2 * margin) / (width * height)
        return min(Int((Double(count) * share).rounded()), max(SkySynthesis.sourceLimit, count))
    }

    private func source(
        _ kind: TruthSource.Kind, _ random: inout RandomStream, _ magnitudes: ClosedRange<Double>
    ) -> TruthSource {
        let x = random.uniform(0.5 - margin, Double(recipe.width) + 0.5 + margin)
        let y = random.uniform(0.5 - margin, Double(recipe.height) + 0.5 + margin)
        let magnitude = Self.magnitude(random.uniform(), magnitudes, slope: recipe.slope)
        return observation.unmeasured(kind, x: x, y: y, magnitude: magnitude)
    }

    /// Magnitude at the quantile `u` of dN/dm ~ 10^(slope m), by inverting the cumulative distribution.
    static func magnitude(_ u: Double, _ range: ClosedRange<Double>, slope: Double) -> Double {
        let span = range.upperBound - range.lowerBound
        let rate = slope * log(10.0)
        // This is the limit for a flat distribution; the general formula would divide 0 by 0.
        guard rate * span > 1e-9 else { return range.lowerBound + u * span }
        return range.lowerBound + log(1 + u * (exp(rate * span) - 1)) / rate
    }
}
