import Glibc

/// A minor planet: a point source that moves along a great circle at a constant rate.
struct Mover {
    /// The mover in the first epoch, with its rate and heading there.
    let source: TruthSource

    /// The movers of a field. All of them are in the frame of the first epoch.
    static func draw(_ observation: Observation, firstID: Int) -> [Mover] {
        let recipe = observation.recipe
        guard recipe.epochs > 1 else { return [] }
        var random = RandomStream(seed: recipe.seed, .movers)
        return (0..<recipe.movers).map { number in
            let x = random.uniform(0.5, Double(recipe.width) + 0.5)
            let y = random.uniform(0.5, Double(recipe.height) + 0.5)
            let magnitude = random.uniform(
                recipe.clearMagnitudes.lowerBound, recipe.clearMagnitudes.upperBound)
            var source = observation.unmeasured(.mover, x: x, y: y, magnitude: magnitude)
            source.id = firstID + number
            source.rate = random.logUniform(recipe.slowest...recipe.fastest)
            source.heading = random.uniform(0, 360)
            return Mover(source: source)
        }
    }

    /// The mover after some hours: the point at a distance and a heading from the first position, by the law of cosines and the
    /// law of sines on the sphere.
    func after(hours: Double) -> TruthSource {
        let radian = Double.pi / 180
        let distance = source.rate * hours / 3600 * radian
        let (sStart, cStart) = (sin(source.delta * radian), cos(source.delta * radian))
        let north = cos(source.heading * radian)
        let height = sStart * cos(distance) + cStart * sin(distance) * north
        let east = sin(source.heading * radian) * sin(distance)
        // This is the part of the unit vector along the starting meridian, away from the pole.
        let meridian = cStart * cos(distance) - sStart * sin(distance) * north
        var moved = source
        moved.delta = atan2(height, (east * east + meridian * meridian).squareRoot()) / radian
        let alpha = (source.alpha + atan2(east, meridian) / radian).truncatingRemainder(dividingBy: 360)
        moved.alpha = alpha < 0 ? alpha + 360 : alpha
        return moved
    }
}
