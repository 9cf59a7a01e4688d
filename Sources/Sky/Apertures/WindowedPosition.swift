import Glibc

/// The centroid of a source under a Gaussian window that moves with it (SExtractor's manual, "Windowed positions").
///
/// The numbers are bit by bit those of SEP 1.2.1's `sep_windowed` with five by five parts of a pixel at the rim and without a
/// mask; a test compares them. So every sum is added in SEP's order, pixel by pixel.
struct WindowedPosition {
    let x: Double
    let y: Double

    /// The radius of the aperture in standard deviations of the window.
    private static let reach = 4.0
    private static let mostRounds = 16
    /// The iteration ends when the centroid lies so close to the centre of the window, in pixels.
    private static let smallestStep = 0.0001
    /// A Gaussian source pulls the centroid only half of the way.
    private static let gain = 2.0

    /// - Parameters:
    ///   - x: The place where the iteration begins, in pixels counted from 0.
    ///   - sigma: The standard deviation of the window in pixels.
    /// - Returns: `nil` for a window that has no size, or one beyond all images.
    init?(_ pixels: AperturePixels, x: Double, y: Double, sigma: Double) {
        let radius = Self.reach * sigma
        guard sigma >= 0, radius <= AperturePixels.largestRadius else { return nil }
        (self.x, self.y) = CircleCover.withCover(radius: radius, width: pixels.width) { cover in
            Self.iterate(pixels, x, y, factor: 1 / (2 * sigma * sigma), &cover)
        }
    }

    private static func iterate(
        _ pixels: AperturePixels, _ startX: Double, _ startY: Double, factor: Double, _ cover: inout CircleCover
    ) -> (Double, Double) {
        var (x, y) = (startX, startY)
        for _ in 0..<mostRounds {
            cover.move(toX: x, y: y, width: pixels.width, height: pixels.height)
            let (light, lightX, lightY) = sums(pixels, factor: factor, &cover)
            guard light > 0 else { break }
            let (stepX, stepY) = (lightX / light, lightY / light)
            x += stepX * gain
            y += stepY * gain
            if stepX * stepX + stepY * stepY < smallestStep * smallestStep { break }
        }
        return (x, y)
    }

    /// The light under the window, and its sums weighted by the distances from the centre.
    private static func sums(
        _ pixels: AperturePixels, factor: Double, _ cover: inout CircleCover
    ) -> (light: Double, x: Double, y: Double) {
        var (light, lightX, lightY) = (0.0, 0.0, 0.0)
        let columns = cover.columns
        for line in cover.box.lines {
            let (parts, places) = cover.cover(line: line)
            let row = pixels.values + line * pixels.width + cover.box.columns.lowerBound
            let terms = cover.shares
            // The exponential is a call. In a loop of its own it does not push the sums out of the registers.
            for place in places {
                terms[place] = Double(row[place]) * terms[place] * exp(-(columns[place].square + parts.square) * factor)
            }
            for place in places {
                light += terms[place]
                lightX += terms[place] * columns[place].distance
                lightY += terms[place] * parts.distance
            }
        }
        return (light, lightX, lightY)
    }
}
