/// The pixels of an image that an aperture may touch, with SEP's rounding.
struct ApertureBox {
    let columns: Range<Int>
    let lines: Range<Int>

    /// - Parameters:
    ///   - x: The centre of the aperture, in pixels counted from 0.
    ///   - reachX: Half of the aperture's extent in pixels, at most ``AperturePixels/largestRadius``.
    init(x: Double, y: Double, reachX: Double, reachY: Double, width: Int, height: Int) {
        columns = Self.range(x, reachX, width)
        lines = Self.range(y, reachY, height)
    }

    /// The pixels along an axis of `count` that lie within `reach` of a place, and one more on each side; none if the place lies farther
    /// outside.
    static func range(around place: Double, reach: Double, of count: Int) -> Range<Int> {
        let first = max(0, Int(place - reach))
        return first..<max(first, min(count, Int(place + reach) + 2))
    }

    private static func range(_ centre: Double, _ reach: Double, _ count: Int) -> Range<Int> {
        let (low, high) = (centre - reach + 0.5, centre + reach + 1.4999999)
        // The aperture of a centre so far away, or of one that is not a number, has no pixels.
        guard abs(low) < 0x1p31, abs(high) < 0x1p31 else { return 0..<0 }
        let first = max(0, Int(low))
        return first..<max(first, min(count, Int(high)))
    }
}
