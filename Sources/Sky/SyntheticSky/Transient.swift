import Glibc

/// A point source that is present in some epochs only: a supernova, or a star that faded away.
struct Transient {
    /// The source in the first epoch's frame, even if it is not present in that epoch.
    let source: TruthSource
    /// The epochs in which the source is present.
    let epochs: Range<Int>

    /// The distance from the middle of its host in half-light radii, along the ellipse of the host's light.
    private static let outskirts = 1.0...2.5

    /// The transients of a field. Every second one is on the outskirts of a galaxy. One of four is present from the beginning
    /// and vanishes; the others appear in a later epoch and may vanish again.
    ///
    /// - Parameter galaxies: The galaxies with their ids, in the first epoch's frame.
    static func draw(_ observation: Observation, galaxies: [TruthSource], firstID: Int) -> [Transient] {
        let recipe = observation.recipe
        guard recipe.epochs > 1, recipe.transients > 0 else { return [] }
        var random = RandomStream(seed: recipe.seed, .transients)
        let hosts = galaxies.filter(observation.contains)
        return (0..<recipe.transients).map { number in
            var x = random.uniform(0.5, Double(recipe.width) + 0.5)
            var y = random.uniform(0.5, Double(recipe.height) + 0.5)
            let magnitude = random.uniform(
                recipe.clearMagnitudes.lowerBound, recipe.clearMagnitudes.upperBound)
            let radius = random.uniform(outskirts.lowerBound, outskirts.upperBound)
            let azimuth = random.uniform(0, 2 * .pi)
            var host = 0
            if number % 2 == 0, !hosts.isEmpty {
                let galaxy = hosts[random.index(hosts.count)]
                let (u, v) = (radius * galaxy.radius * cos(azimuth), radius * galaxy.radius * sin(azimuth))
                let angle = galaxy.angle * .pi / 180
                x = galaxy.x + u * cos(angle) - v * galaxy.axisRatio * sin(angle)
                y = galaxy.y + u * sin(angle) + v * galaxy.axisRatio * cos(angle)
                host = galaxy.id
            }
            let change = 1 + random.index(recipe.epochs - 1)
            let end = change + 1 + random.index(recipe.epochs - change)
            var source = observation.unmeasured(.transient, x: x, y: y, magnitude: magnitude)
            source.id = firstID + number
            source.host = host
            // These are two of every eight, one with a host and one without.
            let vanishes = number % 8 == 2 || number % 8 == 5
            return Transient(source: source, epochs: vanishes ? 0..<change : change..<end)
        }
    }
}
