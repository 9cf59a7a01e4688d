/// The parts of a pixel along one axis, whose centres are the places at which an aperture looks.
///
/// A pixel near the rim of an aperture is divided into five by five parts, as in SExtractor. SEP looks at each of the 25 parts of
/// a pixel on its own. But the squared distances along x are the same in every line, and those along y in every column. They are
/// computed once, with SEP's operations in SEP's order: each part lies one step from the one before.
struct PixelParts {
    /// The distance of the pixel's centre from the centre of the aperture along the axis, and its square.
    let distance: Double
    let square: Double
    /// The squares of the distances of the parts: of the first four, and of the last.
    let squares: SIMD4<Double>
    let lastSquare: Double

    /// The number of parts along an axis, and the side of a part in pixels.
    static let count = 5
    private static let side = 1 / Double(count)
    /// The share of a part in its pixel.
    static let share = side * side
    /// A part's centre is at most so far from the centre of its pixel: 0.4 along each axis, and a little more.
    static let reach = 0.57

    init(distance: Double) {
        self.distance = distance
        square = distance * distance
        let first = distance + 0.5 * (Self.side - 1)
        let second = first + Self.side
        let third = second + Self.side
        let fourth = third + Self.side
        let fifth = fourth + Self.side
        let parts = SIMD4(first, second, third, fourth)
        (squares, lastSquare) = (parts * parts, fifth * fifth)
    }
}
