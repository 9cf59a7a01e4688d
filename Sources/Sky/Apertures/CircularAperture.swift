/// The light in a circle.
///
/// The numbers are bit by bit those of SEP 1.2.1's `sep_sum_circle` with five by five parts of a pixel at the rim and without a
/// mask; a test compares them. So every sum is added in SEP's order, pixel by pixel.
struct CircularAperture {
    let sum: Double
    /// The 1-sigma error of the sum.
    let error: Double
    /// The area of the circle that lies in the image, in pixels.
    let area: Double

    /// - Parameters:
    ///   - x: The centre in pixels counted from 0.
    ///   - radius: In pixels.
    /// - Returns: `nil` for a circle beyond all images.
    init?(_ pixels: AperturePixels, x: Double, y: Double, radius: Double) {
        guard radius >= 0, radius <= AperturePixels.largestRadius else { return nil }
        var (sum, variance, area) = (0.0, 0.0, 0.0)
        CircleCover.withCover(radius: radius, width: pixels.width) { cover in
            cover.move(toX: x, y: y, width: pixels.width, height: pixels.height)
            for line in cover.box.lines {
                let places = cover.cover(line: line).places
                let row = line * pixels.width + cover.box.columns.lowerBound
                for place in places {
                    sum += Double(pixels.values[row + place]) * cover.shares[place]
                    variance += Double(pixels.variance(row + place)) * cover.shares[place]
                    area += cover.shares[place]
                }
            }
        }
        (self.sum, self.area) = (sum, area)
        error = pixels.error(variance, of: sum)
    }
}
