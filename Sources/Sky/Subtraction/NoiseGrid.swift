/// The level and the noise of an array of pixels in square cells. They are measured from the pixels themselves, so they include
/// the effects of smoothing and resampling. The measurement is robust, because most pixels have no source.
package struct NoiseGrid {
    private let cell: Int
    private let columns: Int
    private let levels: [Float]
    private let sigmas: [Float]
    /// The median noise of the cells; 0 where no cell could be measured.
    let sigma: Float

    /// Every third pixel along each axis is used, because neighbours in a smoothed image are nearly equal.
    private static let step = 3
    private static let leastValues = 100

    /// - Parameter mask: Pixels with any flag are left out.
    init(_ plane: PixelArray, mask: [PixelMask], cell: Int = 128) {
        let columns = max((plane.width - 1) / cell + 1, 1)
        let rows = max((plane.height - 1) / cell + 1, 1)
        var measured = [(middle: Float, sigma: Float)?](repeating: nil, count: columns * rows)
        for row in 0..<rows {
            for column in 0..<columns {
                let values = Self.values(
                    of: plane, mask: mask, columns: column * cell..<min((column + 1) * cell, plane.width),
                    rows: row * cell..<min((row + 1) * cell, plane.height))
                guard values.count >= Self.leastValues else { continue }
                measured[row * columns + column] = RobustStatistics.spread(values)
            }
        }
        let known = measured.compactMap { $0 }.filter { $0.sigma > 0 }
        let typical = known.map(\.sigma).sorted()
        let sigma = typical.isEmpty ? 0 : typical[typical.count / 2]
        self.cell = cell
        self.columns = columns
        self.sigma = sigma
        levels = measured.map { $0?.middle ?? 0 }
        // A cell with many residuals keeps its larger noise; one that is much quieter than the rest is so by chance.
        let own = measured.map { max($0?.sigma ?? sigma, 0.8 * sigma) }
        // The noise of one cell is known to some per cent; with its neighbours it is known to one per cent.
        sigmas = own.indices.map { index in
            var (sum, count): (Float, Float) = (0, 0)
            for row in max(0, index / columns - 1)...min(rows - 1, index / columns + 1) {
                for column in max(0, index % columns - 1)...min(columns - 1, index % columns + 1) {
                    sum += own[row * columns + column]
                    count += 1
                }
            }
            return sum / count
        }
    }

    /// The pixels of a cell that are measured.
    private static func values(
        of plane: PixelArray, mask: [PixelMask], columns: Range<Int>, rows: Range<Int>
    ) -> [Float] {
        let most = ((columns.count - 1) / step + 1) * ((rows.count - 1) / step + 1)
        return [Float](unsafeUninitializedCapacity: most) { values, count in
            plane.values.withUnsafeBufferPointer { pixels in
                mask.withUnsafeBufferPointer { mask in
                    for y in stride(from: rows.lowerBound, to: rows.upperBound, by: step) {
                        for x in stride(from: columns.lowerBound, to: columns.upperBound, by: step) {
                            let index = y * plane.width + x
                            guard mask[index].isEmpty else { continue }
                            values[count] = pixels[index]
                            count += 1
                        }
                    }
                }
            }
        }
    }

    /// The level at a pixel of the plane.
    package func level(x: Int, y: Int) -> Float { levels[y / cell * columns + x / cell] }

    /// The noise at a pixel, 1 sigma.
    func sigma(x: Int, y: Int) -> Float { sigmas[y / cell * columns + x / cell] }
}
