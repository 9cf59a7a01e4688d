/// The frame while it is painted: ADU, row by row, the first pixel's centre at (0, 0).
package struct PixelCanvas {
    let width: Int
    let height: Int
    var pixels: [Float]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        pixels = [Float](repeating: 0, count: width * height)
    }

    /// The pixels of one axis within `reach` of `centre`; empty if none of them lies in the frame.
    static func span(around centre: Double, reach: Double, size: Int) -> Range<Int> {
        let low = max((centre - reach).rounded(.up), 0)
        let high = min((centre + reach).rounded(.down), Double(size - 1))
        guard low <= high else { return 0..<0 }
        return Int(low)..<Int(high) + 1
    }
}
