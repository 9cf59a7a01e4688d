/// The light in an ellipse; a pixel counts if its centre lies in the ellipse.
///
/// The numbers are bit by bit those of SEP 1.2.1's `sep_sum_ellipse` without parts of pixels and without a mask; a test compares
/// them. So every sum is added in SEP's order, pixel by pixel.
struct EllipticalAperture {
    let sum: Double
    /// The 1-sigma error of the sum.
    let error: Double
    /// The number of pixels.
    let area: Double

    /// - Parameters:
    ///   - x: The centre in pixels counted from 0.
    ///   - radius: In units of the ellipse's axes.
    /// - Returns: `nil` for an ellipse beyond all images.
    init?(_ pixels: AperturePixels, x: Double, y: Double, _ ellipse: Ellipse, radius: Double) {
        let reach = ellipse.reach(radius)
        guard radius >= 0, reach.x <= AperturePixels.largestRadius, reach.y <= AperturePixels.largestRadius else {
            return nil
        }
        let box = ApertureBox(
            x: x, y: y, reachX: reach.x, reachY: reach.y, width: pixels.width, height: pixels.height)
        let square = radius * radius
        // SEP looks twice at a pixel near the rim, and rounds differently then.
        let rim = 0.7072 / ellipse.b
        let (low, high) = (radius - rim, radius + rim)
        let (inner, outer) = (low > 0 ? low * low : 0, high * high)
        var (sum, variance, area) = (0.0, 0.0, 0.0)
        for line in box.lines {
            let dy = Double(line) - y
            let (first, second) = (ellipse.cyy * dy * dy, ellipse.cyy * (dy * dy))
            let row = line * pixels.width
            for column in ellipse.columns(of: dy, radius: high, around: x, within: box.columns) {
                let dx = Double(column) - x
                let (across, slanted) = (ellipse.cxx * dx * dx, ellipse.cxy * dx * dy)
                let distance = across + first + slanted
                guard distance < outer else { continue }
                let share = distance > inner && across + second + slanted >= square ? 0.0 : 1.0
                sum += Double(pixels.values[row + column]) * share
                variance += Double(pixels.variance(row + column)) * share
                area += share
            }
        }
        (self.sum, self.area) = (sum, area)
        error = pixels.error(variance, of: sum)
    }
}
