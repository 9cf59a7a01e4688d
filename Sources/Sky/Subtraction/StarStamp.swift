/// The pixels around a star in both images.
struct StarStamp {
    /// Pixels on each side of the middle one.
    let radius: Int
    /// The distance of the star's centre from the middle pixel's centre, in pixels.
    let dx: Double
    let dy: Double
    /// The star's flux in the new image.
    let flux: Double
    /// Whether the star shows the image of a point source.
    let isPoint: Bool
    /// The pixels of the new image, of the smoothed new image, and of the old one resampled onto the new one's pixels.
    let new: [Float]
    let smoothed: [Float]
    let old: [Float]
    private let mask: [PixelMask]

    /// Cuts a star out of a frame; `nil` if the star is too near to the frame's edge.
    init?(of star: ReferenceStar, from frame: PairFrame, smoothed: PixelArray, radius: Int) {
        let (px, py) = (star.x - Double(frame.rect.x), star.y - Double(frame.rect.y))
        guard abs(px) < 1e9, abs(py) < 1e9 else { return nil }
        let (x, y) = (Int(px.rounded()), Int(py.rounded()))
        let (width, height) = (frame.rect.width, frame.rect.height)
        guard x >= radius, y >= radius, x + radius < width, y + radius < height else { return nil }
        func cut<Value>(_ values: [Value]) -> [Value] {
            let rows: ClosedRange<Int> = y - radius...y + radius
            return rows.flatMap { (row: Int) -> ArraySlice<Value> in
                let centre = row * width + x
                return values[centre - radius...centre + radius]
            }
        }
        self.radius = radius
        (dx, dy, flux, isPoint) = (px - Double(x), py - Double(y), star.flux, star.isPoint ?? true)
        new = cut(frame.new.values)
        self.smoothed = cut(smoothed.values)
        old = cut(frame.old.values)
        mask = cut(frame.mask)
    }

    /// Whether all pixels up to `reach` from the middle one are good, or were replaced.
    func isClean(within reach: Int) -> Bool {
        let side = 2 * radius + 1
        let reach = min(reach, radius)
        return (radius - reach...radius + reach).allSatisfy { row in
            (radius - reach...radius + reach).allSatisfy { mask[row * side + $0].isDisjoint(with: .blocking) }
        }
    }
}
