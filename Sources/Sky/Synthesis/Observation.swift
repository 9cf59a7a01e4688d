/// How one frame shows the sources of the sky: where they are, how bright, and how sharp.
struct Observation {
    /// The recipe with the frame's own seeing, sky and zero point.
    let recipe: SkySynthesis
    /// The frame's own coordinates.
    let plane: TangentPlane
    /// The image of a point source under the seeing.
    let point: any PointProfile
    /// The number of the epoch, counted from 0.
    let epoch: Int
    private let pointArea: Double
    /// The angle in degrees, from x towards y, by which a direction on the sky is turned against the first epoch's frame.
    private let turn: Double

    init(_ recipe: SkySynthesis, _ conditions: EpochConditions) {
        self.recipe = conditions.applied(to: recipe)
        plane = TangentPlane(self.recipe, dither: conditions.dither)
        point = recipe.profile.point(fwhm: self.recipe.fwhm)
        pointArea = point.noiseEquivalentArea
        epoch = conditions.epoch
        turn = -conditions.turn
    }

    /// The noise of an empty pixel in ADU, never exactly zero.
    var noise: Double { max(recipe.skyVariance.squareRoot(), 1e-3) }

    /// A source at a pixel position counted from 1, without flux.
    func unmeasured(_ kind: TruthSource.Kind, x: Double, y: Double, magnitude: Double) -> TruthSource {
        let position = plane.position(x: x, y: y)
        return TruthSource(
            kind: kind, x: x, y: y, alpha: position.alpha, delta: position.delta, magnitude: magnitude, flux: 0,
            signalToNoise: 0)
    }

    /// The source with the flux and the signal to noise that belong to its magnitude and size.
    func measured(_ source: TruthSource) -> TruthSource {
        var source = source
        source.flux = recipe.flux(magnitude: source.magnitude)
        source.signalToNoise = recipe.signalToNoise(flux: source.flux, area: area(of: source))
        return source
    }

    /// The source as this frame sees it, by its coordinates and its magnitude; `nil` on the far half of the sky.
    func seen(_ source: TruthSource) -> TruthSource? {
        guard let pixel = plane.pixel(alpha: source.alpha, delta: source.delta) else { return nil }
        var source = source
        (source.x, source.y) = pixel
        if source.kind == .galaxy {
            source.angle = (source.angle + turn + 180).truncatingRemainder(dividingBy: 180)
        }
        return measured(source)
    }

    /// Whether the source's middle is on a pixel of the frame.
    func contains(_ source: TruthSource) -> Bool {
        0.5..<Double(recipe.width) + 0.5 ~= source.x && 0.5..<Double(recipe.height) + 0.5 ~= source.y
    }

    /// The noise-equivalent area in pixels. For a galaxy it is that of the seeing and of a Gaussian with the galaxy's
    /// half-light ellipse.
    private func area(of source: TruthSource) -> Double {
        guard source.kind == .galaxy else { return pointArea }
        return pointArea + 6 * .pi * (0.6 * source.radius) * (0.6 * source.radius) * source.axisRatio
    }
}
