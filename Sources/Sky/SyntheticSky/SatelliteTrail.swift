import Glibc

/// The trail of a satellite that crosses the frame during the exposure: a straight line, as wide as the seeing.
struct SatelliteTrail {
    /// A point of the trail in pixels, counted from 0.
    let x: Double
    let y: Double
    /// Direction in degrees from x towards y.
    let angle: Double
    /// Standard deviation of its cross-section in pixels.
    let sigma: Double
    /// The ADU of a pixel in the middle of the trail.
    let brightness: Double

    /// The trails of an epoch. Each passes through the inner half of the frame, at any angle.
    static func draw(_ recipe: SkySynthesis, epoch: Int) -> [SatelliteTrail] {
        var random = RandomStream(seed: recipe.seed, .trails, epoch: epoch)
        return (0..<recipe.trails).map { _ in
            SatelliteTrail(
                x: Double(recipe.width) * random.uniform(0.25, 0.75),
                y: Double(recipe.height) * random.uniform(0.25, 0.75),
                angle: random.uniform(0, 180), sigma: GaussianProfile.sigma(fwhm: recipe.fwhm),
                brightness: recipe.trailBrightness)
        }
    }

    /// The part of the trail inside the frame: the distances along the trail from its point to the frame's edges, in pixels.
    func chord(width: Int, height: Int) -> ClosedRange<Double> {
        var low = -Double.greatestFiniteMagnitude
        var high = Double.greatestFiniteMagnitude
        for (place, slope, size) in [(x, direction.x, width), (y, direction.y, height)] where abs(slope) > 1e-12 {
            let ends = [(-0.5 - place) / slope, (Double(size) - 0.5 - place) / slope]
            low = max(low, min(ends[0], ends[1]))
            high = min(high, max(ends[0], ends[1]))
        }
        return low <= high ? low...high : 0...0
    }

    /// Adds the trail.
    ///
    /// - Returns: The trail's light in the frame, in ADU.
    func paint(floor: Double, on canvas: inout PixelCanvas) -> Double {
        // As for galaxies, the mean over a pixel is the value of a Gaussian that is wider by the variance of a unit box.
        let variance = sigma * sigma + 1.0 / 12
        let peak = brightness * sigma / variance.squareRoot()
        guard peak > floor else { return 0 }
        let reach = (2 * variance * log(peak / floor)).squareRoot()
        let (dx, dy) = direction
        let width = canvas.width
        var flux = 0.0
        for row in 0..<canvas.height {
            let rise = (Double(row) - y) * dx
            let columns: Range<Int>
            if abs(dy) * Double(width) > 1e-3 {
                columns = PixelCanvas.span(around: x + rise / dy, reach: reach / abs(dy), size: width)
            } else {
                columns = abs(rise) <= reach ? 0..<width : 0..<0
            }
            for column in columns {
                let distance = rise - (Double(column) - x) * dy
                let value = Float(peak * exp(-0.5 * distance * distance / variance))
                canvas.pixels[row * width + column] += value
                flux += Double(value)
            }
        }
        return flux
    }

    /// The truth about the trail, once its light is known. The noise-equivalent area of a line with a Gaussian cross-section is
    /// its length times 2 sqrt(pi) sigma.
    func truth(flux: Double, in recipe: SkySynthesis, plane: TangentPlane) -> TruthSource {
        let chord = chord(width: recipe.width, height: recipe.height)
        let middle = 0.5 * (chord.lowerBound + chord.upperBound)
        let length = chord.upperBound - chord.lowerBound
        var truth = recipe.blemish(
            .trail, x: x + middle * direction.x + 1, y: y + middle * direction.y + 1, flux: flux,
            area: max(length * 2 * Double.pi.squareRoot() * sigma, 1), plane: plane)
        truth.length = length
        truth.angle = angle
        return truth
    }

    private var direction: (x: Double, y: Double) { (cos(angle * .pi / 180), sin(angle * .pi / 180)) }
}
