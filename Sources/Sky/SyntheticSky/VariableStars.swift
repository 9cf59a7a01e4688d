/// The stars of a field whose magnitude changes from epoch to epoch.
struct VariableStars {
    private let recipe: SkySynthesis
    /// The places of the variable stars in the list of stars.
    private let places: [Int]

    /// The range of magnitudes by which a star may differ from the first epoch.
    private static let changes = 0.4...1.5

    /// Draws the variable stars among those that are in the frame and bright enough to be found, and among the others only if
    /// these are too few.
    init(_ observation: Observation, stars: [TruthSource]) {
        recipe = observation.recipe
        guard recipe.epochs > 1, recipe.variables > 0 else {
            places = []
            return
        }
        var random = RandomStream(seed: recipe.seed, .variables)
        let magnitudes = recipe.clearMagnitudes
        let isClear = stars.map { observation.contains($0) && magnitudes.contains($0.magnitude) }
        let clear = stars.indices.filter { isClear[$0] }
        let others = clear.count < recipe.variables ? stars.indices.filter { !isClear[$0] } : []
        places = Array((random.shuffled(clear) + random.shuffled(others)).prefix(recipe.variables))
    }

    /// Changes the magnitudes of `stars` to those of an epoch. They are drawn anew in each epoch; the first is the reference.
    func apply(to stars: inout [TruthSource], epoch: Int) {
        guard epoch > 0, !places.isEmpty else { return }
        var random = RandomStream(seed: recipe.seed, .variables, epoch: epoch)
        for place in places {
            let change = random.uniform(Self.changes.lowerBound, Self.changes.upperBound)
            let sign = random.uniform() < 0.5 ? -1.0 : 1
            stars[place].magnitudeChange = sign * change
            stars[place].magnitude += sign * change
        }
    }
}
