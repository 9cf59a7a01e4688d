import Glibc

/// Tracks of charged particles through the detector. They are straight and as sharp as the pixels, because seeing does not blur
/// them.
struct CosmicRays {
    private let recipe: SkySynthesis
    private let plane: TangentPlane
    private let epoch: Int

    /// The length of a track in pixels, from one that falls steeply to one that grazes a thick detector.
    private static let lengths = 2.0...40.0
    /// The electrons for every pixel of a track's length. A fast proton frees some 80 electrons in a micrometre of silicon,
    /// which are some 1,200 in a pixel of 15 micrometres.
    private static let charges = 800.0...8000.0
    /// The distance in pixels between two points of a track.
    private static let step = 0.05

    init(_ recipe: SkySynthesis, plane: TangentPlane, epoch: Int) {
        self.recipe = recipe
        self.plane = plane
        self.epoch = epoch
    }

    /// Adds the tracks.
    ///
    /// - Returns: The truth about each track: its light in the frame.
    func paint(on canvas: inout PixelCanvas) -> [TruthSource] {
        var random = RandomStream(seed: recipe.seed, .cosmicRays, epoch: epoch)
        return (0..<recipe.cosmicRays).map { _ in track(&random, on: &canvas) }
    }

    private func track(_ random: inout RandomStream, on canvas: inout PixelCanvas) -> TruthSource {
        let start = (
            x: random.uniform(-0.5, Double(canvas.width) - 0.5), y: random.uniform(-0.5, Double(canvas.height) - 0.5)
        )
        let angle = random.uniform(0, 360)
        let length = random.logUniform(Self.lengths)
        let charge = random.logUniform(Self.charges) / recipe.gain
        let along = (x: cos(angle * .pi / 180), y: sin(angle * .pi / 180))
        var hit: (index: Int, steps: Int)?
        var flux = 0.0
        var squares = 0.0
        var done = 0
        /// Frees the charge of the pixel that the track leaves. The loss of energy straggles with a long tail (Landau 1944); an
        /// exponential above a floor is close enough for a picture.
        func leave(_ canvas: inout PixelCanvas) {
            guard let pixel = hit else { return }
            let straggling = 0.6 - 0.4 * log(1 - random.uniform())
            let value = Float(charge * Double(pixel.steps) * Self.step * straggling)
            canvas.pixels[pixel.index] += value
            flux += Double(value)
            squares += Double(value) * Double(value)
        }
        for number in 0..<max(Int((length / Self.step).rounded()), 1) {
            let distance = (Double(number) + 0.5) * Self.step
            let column = Int((start.x + distance * along.x).rounded())
            let row = Int((start.y + distance * along.y).rounded())
            // The track began inside, so it does not come back after it has left the frame.
            guard 0..<canvas.width ~= column, 0..<canvas.height ~= row else { break }
            let index = row * canvas.width + column
            if hit?.index == index {
                hit?.steps += 1
            } else {
                leave(&canvas)
                hit = (index, 1)
            }
            done = number + 1
        }
        leave(&canvas)
        let travelled = Double(done) * Self.step
        var truth = recipe.blemish(
            .cosmic, x: start.x + 0.5 * travelled * along.x + 1, y: start.y + 0.5 * travelled * along.y + 1,
            flux: flux, area: squares > 0 ? flux * flux / squares : 1, plane: plane)
        truth.length = travelled
        truth.angle = angle.truncatingRemainder(dividingBy: 180)
        return truth
    }
}

extension SkySynthesis {
    /// The truth about something that is in the frame but not in the sky.
    ///
    /// - Parameters:
    ///   - x: The column of its middle, counted from 1.
    ///   - y: The row of its middle, counted from 1.
    ///   - area: The noise-equivalent area in pixels.
    func blemish(
        _ kind: TruthSource.Kind, x: Double, y: Double, flux: Double, area: Double, plane: TangentPlane
    ) -> TruthSource {
        let position = plane.position(x: x, y: y)
        return TruthSource(
            kind: kind, x: x, y: y, alpha: position.alpha, delta: position.delta,
            magnitude: magnitude(flux: flux), flux: flux, signalToNoise: signalToNoise(flux: flux, area: area))
    }
}
