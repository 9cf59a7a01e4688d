/// The light of the sky and the noise of the detector, which are added to the light of the sources.
struct DetectorNoise {
    private let recipe: SkySynthesis
    private let epoch: Int

    /// The noise of an epoch; `recipe` must have the sky's level in that epoch.
    init(_ recipe: SkySynthesis, epoch: Int = 0) {
        self.recipe = recipe
        self.epoch = epoch
    }

    /// Adds the graded sky to `canvas`, then adds noise and cuts at the saturation.
    ///
    /// Poisson noise is drawn from the normal distribution of the same variance. At a sky of 1,200 electrons its skew is
    /// 1/sqrt(1200) = 0.03, which no part of this program can detect. Below some 20 electrons a pixel the difference would be
    /// visible.
    func apply(to canvas: inout PixelCanvas) {
        var random = RandomStream(seed: recipe.seed, .noise, epoch: epoch)
        let perGain = 1 / recipe.gain
        let readVariance = recipe.readNoise * recipe.readNoise * perGain * perGain
        let ceiling = recipe.ceiling ?? .infinity
        let width = canvas.width
        let height = canvas.height
        canvas.pixels.withUnsafeMutableBufferPointer { pixels in
            for row in 0..<height {
                let v = Double(row) / Double(height) - 0.5
                for column in 0..<width {
                    let u = Double(column) / Double(width) - 0.5
                    let tilt = 0.7 * u + 0.4 * v + 0.3 * (u * u - v * v)
                    let index = row * width + column
                    let light = max(Double(pixels[index]) + recipe.sky * (1 + recipe.gradient * tilt), 0)
                    let sigma = (light * perGain + readVariance).squareRoot()
                    pixels[index] = Float(min(light + sigma * random.normal(), ceiling))
                }
            }
        }
    }
}
