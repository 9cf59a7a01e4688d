/// A local extremum of a difference image.
struct DifferencePeak {
    /// The pixel, counted from the frame's corner, and the extremum between the pixels around it.
    let x: Int
    let y: Int
    let dx: Double
    let dy: Double
    /// The height above the level of the difference around it; negative if the new image is fainter.
    let height: Double
    /// The height in units of the error; below, the error.
    let significance: Double
    let error: Double

    /// Finds the extrema in `core`, counted from the frame's corner.
    ///
    /// - Parameters:
    ///   - threshold: The least significance.
    ///   - blocked: Whether each pixel cannot be used.
    static func all(in image: DifferenceImage, core: PixelRect, threshold: Double, blocked: [Bool]) -> [DifferencePeak]
    {
        let (width, height) = (image.difference.width, image.difference.height)
        let values = image.difference.values
        let reach = max(1, Int((image.widths.target / 3).rounded()))
        var peaks: [DifferencePeak] = []
        for y in max(core.y, reach)..<max(min(core.y + core.height, height - reach), max(core.y, reach)) {
            for x in max(core.x, reach)..<max(min(core.x + core.width, width - reach), max(core.x, reach)) {
                let index = y * width + x
                let (level, sigma) = (image.noise.level(x: x, y: y), image.noise.sigma(x: x, y: y))
                let above = values[index] - level
                guard abs(above) > Float(threshold) * sigma, sigma > 0, !blocked[index] else { continue }
                let error = image.error(x: x, y: y)
                guard abs(Double(above)) > threshold * error,
                    isExtremum(values, index, width, reach, sign: above > 0 ? 1 : -1)
                else { continue }
                // The extremum is that of a parabola through the pixel and its neighbours, one for each axis.
                let (dx, dy) = (
                    vertex(values[index - 1], values[index], values[index + 1]),
                    vertex(values[index - width], values[index], values[index + width])
                )
                let gain =
                    Double(values[index + 1] - values[index - 1]) * dx / 4
                    + Double(values[index + width] - values[index - width]) * dy / 4
                let full = Double(above) + gain
                peaks.append(
                    DifferencePeak(
                        x: x, y: y, dx: dx, dy: dy, height: full, significance: Double(above) / error, error: error))
            }
        }
        return peaks
    }

    private static func isExtremum(_ values: [Float], _ index: Int, _ width: Int, _ reach: Int, sign: Float) -> Bool {
        let centre = sign * values[index]
        for row in -reach...reach {
            for column in -reach...reach where row != 0 || column != 0 {
                let other = sign * values[index + row * width + column]
                // Of equal neighbours, the first counts.
                if other > centre || (other == centre && (row, column) < (0, 0)) { return false }
            }
        }
        return true
    }

    /// The place of the extremum of the parabola through three points, counted from the middle one.
    private static func vertex(_ left: Float, _ middle: Float, _ right: Float) -> Double {
        let curvature = Double(left) - 2 * Double(middle) + Double(right)
        guard curvature != 0 else { return 0 }
        return min(max((Double(left) - Double(right)) / (2 * curvature), -0.5), 0.5)
    }
}
