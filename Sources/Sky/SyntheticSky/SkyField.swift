/// All sources in the sky in and around the frames of several epochs, each with a number that it keeps.
struct SkyField {
    private let recipe: SkySynthesis
    private let stars: [TruthSource]
    private let galaxies: [TruthSource]
    private let variables: VariableStars
    private let transients: [Transient]
    private let movers: [Mover]

    /// Draws the field in the frame of the first epoch.
    init(_ recipe: SkySynthesis) {
        self.recipe = recipe
        let first = Observation(recipe, EpochConditions(recipe, epoch: 0))
        let population = SkyPopulation(recipe, first, margin: EpochConditions.margin(recipe))
        stars = Self.numbered(population.stars(), from: 1)
        galaxies = Self.numbered(population.galaxies(), from: stars.count + 1)
        variables = VariableStars(first, stars: stars)
        let next = stars.count + galaxies.count + 1
        transients = Transient.draw(first, galaxies: galaxies, firstID: next)
        movers = Mover.draw(first, firstID: next + transients.count)
    }

    /// The sources of an epoch, as that epoch's frame shows them, in the frame or near it.
    func sources(in observation: Observation) -> [TruthSource] {
        let epoch = observation.epoch
        let hours = Double(epoch) * recipe.interval / 3600
        var stars = stars
        variables.apply(to: &stars, epoch: epoch)
        let present = transients.filter { $0.epochs.contains(epoch) }.map(\.source)
        let moved = movers.map { $0.after(hours: hours) }
        return (stars + galaxies + present + moved).compactMap(observation.seen)
    }

    private static func numbered(_ sources: [TruthSource], from first: Int) -> [TruthSource] {
        sources.enumerated().map { index, source in
            var source = source
            source.id = first + index
            return source
        }
    }
}
