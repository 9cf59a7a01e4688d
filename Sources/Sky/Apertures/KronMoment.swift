/// The first moment of a source's light, of which the Kron radius is a multiple (Kron 1980, ApJS 43, 305): the mean distance of
/// the light in an ellipse, in units of the ellipse's axes.
///
/// The number is bit by bit that of SEP 1.2.1's `sep_kron_radius`; a test compares them. So both sums are added in SEP's order,
/// pixel by pixel.
struct KronMoment {
    /// 0 if the ellipse has no pixels, or no light.
    let value: Double

    /// Smaller values are no pixels for SEP.
    private static let smallest = -1e30

    /// The pixels in which the moment is measured, row by row. The caller owns the memory and keeps it alive.
    struct Pixels {
        let values: UnsafePointer<Float>
        /// A pixel without data has a 1.
        let mask: UnsafePointer<UInt8>
        /// The source that each pixel belongs to, 0 for none.
        let segments: UnsafePointer<Int32>
        let width: Int
        let height: Int
    }

    /// - Parameters:
    ///   - x: The centre in pixels counted from 0.
    ///   - radius: In units of the ellipse's axes.
    ///   - id: The source, above 0. Pixels of other sources do not count.
    /// - Returns: `nil` for an ellipse beyond all images.
    init?(_ pixels: Pixels, x: Double, y: Double, _ ellipse: Ellipse, radius: Double, id: Int32) {
        let reach = ellipse.reach(radius)
        guard reach.x <= AperturePixels.largestRadius, reach.y <= AperturePixels.largestRadius else { return nil }
        let box = ApertureBox(
            x: x, y: y, reachX: reach.x, reachY: reach.y, width: pixels.width, height: pixels.height)
        let square = radius * radius
        var (moment, light, count) = (0.0, 0.0, 0)
        for line in box.lines {
            let dy = Double(line) - y
            let along = ellipse.cyy * dy * dy
            let row = line * pixels.width
            for column in ellipse.columns(of: dy, radius: radius, around: x, within: box.columns) {
                let dx = Double(column) - x
                let distance = ellipse.cxx * dx * dx + along + ellipse.cxy * dx * dy
                guard distance <= square else { continue }
                let (value, segment) = (Double(pixels.values[row + column]), pixels.segments[row + column])
                let isForeign = segment > 0 && segment != id
                if value < Self.smallest || pixels.mask[row + column] != 0 || isForeign { continue }
                moment += distance.squareRoot() * value
                light += value
                count += 1
            }
        }
        value = count == 0 || moment <= 0 || light <= 0 ? 0 : moment / light
    }
}
