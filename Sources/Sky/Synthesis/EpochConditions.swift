/// The conditions that change from one epoch to the next besides the sources: the pointing of the telescope, and the air.
struct EpochConditions {
    /// The number of the epoch, counted from 0.
    let epoch: Int
    /// The pixels by which the sky is moved in the frame.
    var dither = (x: 0.0, y: 0.0)
    /// The degrees by which the camera is turned.
    var turn = 0.0
    /// The seeing, as a multiple of the recipe's.
    var seeing = 1.0
    /// The level of the sky, as a multiple of the recipe's.
    var sky = 1.0
    /// The magnitudes by which thin cloud dims every source.
    var extinction = 0.0

    /// The largest turn of the camera, in degrees: the error of a good mount's alignment over a night.
    private static let turnLimit = 0.05
    private static let seeingRange = 0.85...1.15
    /// The range of the sky's level, as a multiple of the recipe's.
    static let skyRange = 0.9...1.15
    private static let extinctionRange = 0.0...0.3

    /// The conditions of an epoch. The first has those of the recipe, so that it can serve as the reference.
    init(_ recipe: SkySynthesis, epoch: Int) {
        self.epoch = epoch
        guard epoch > 0 else { return }
        var random = RandomStream(seed: recipe.seed, .conditions, epoch: epoch)
        let reach = Self.reach(of: recipe.dither)
        dither = (random.uniform(-reach, reach), random.uniform(-reach, reach))
        turn = random.uniform(-Self.turnLimit, Self.turnLimit)
        seeing = random.uniform(Self.seeingRange.lowerBound, Self.seeingRange.upperBound)
        sky = random.uniform(Self.skyRange.lowerBound, Self.skyRange.upperBound)
        extinction = random.uniform(Self.extinctionRange.lowerBound, Self.extinctionRange.upperBound)
    }

    /// The recipe with the conditions of this epoch.
    func applied(to recipe: SkySynthesis) -> SkySynthesis {
        var recipe = recipe
        recipe.fwhm *= seeing
        recipe.sky *= sky
        recipe.zeroPoint -= extinction
        recipe.rotation += turn
        return recipe
    }

    /// The width in pixels of the border around the frame that some epoch may see; 0 for a single epoch.
    static func margin(_ recipe: SkySynthesis) -> Double {
        guard recipe.epochs > 1 else { return 0 }
        // A turn about the middle moves a corner by at most half the two sides times the angle.
        let swing = 0.5 * Double(recipe.width + recipe.height) * turnLimit * .pi / 180
        return (reach(of: recipe.dither) + swing).rounded(.up) + wings
    }

    /// The distance from the edge within which a star beyond it still has wings in the frame.
    private static let wings = 10.0

    /// The half-width of a uniform distribution: one of standard deviation 1 ends at the square root of 3.
    private static func reach(of dither: Double) -> Double { 3.0.squareRoot() * dither }
}
