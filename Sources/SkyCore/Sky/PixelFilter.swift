/// The detection filter as SEP applies it, in its order of operations: what is compared with the threshold.
struct PixelFilter {
    /// Row by row; the caller's, who keeps them alive.
    private let pixels: UnsafePointer<Float>
    private let width: Int
    private let height: Int
    private let kernel: DetectionKernel
    private let weights: [Float]

    init(_ pixels: UnsafePointer<Float>, width: Int, height: Int, kernel: DetectionKernel) {
        (self.pixels, self.width, self.height, self.kernel) = (pixels, width, height, kernel)
        weights = kernel.normed
    }

    /// Writes the filtered values of some pixels of a line.
    func run(_ y: Int, _ columns: Range<Int>, into sums: UnsafeMutablePointer<Float>) {
        guard !weights.isEmpty else {
            sums.update(from: pixels + y * width + columns.lowerBound, count: columns.count)
            return
        }
        sums.update(repeating: 0, count: columns.count)
        let (radius, reach, side, count) = (kernel.width / 2, kernel.height / 2, kernel.width, columns.count)
        for line in max(0, y - reach)...min(height - 1, y + reach) {
            let taps = weights[(line - y + reach) * side..<(line - y + reach + 1) * side]
            let row = pixels + line * width
            var shift = -radius
            while shift <= radius {
                let tap = taps[taps.startIndex + radius + shift]
                // Three at a time, in the same order, where all of them lie in the rectangle.
                if shift + 2 <= radius, columns.lowerBound + shift >= 0, columns.upperBound + shift + 2 <= width {
                    let next = taps[taps.startIndex + radius + shift + 1]
                    let last = taps[taps.startIndex + radius + shift + 2]
                    let first = row + columns.lowerBound + shift
                    // Pointers of their own: an index that may overflow is not reckoned with four at a time.
                    let (second, third) = (first + 1, first + 2)
                    for index in 0..<count {
                        sums[index] = sums[index] + tap * first[index] + next * second[index] + last * third[index]
                    }
                    shift += 3
                    continue
                }
                let first = max(columns.lowerBound, -shift)
                for column in first..<max(first, min(columns.upperBound, width - shift)) {
                    sums[column - columns.lowerBound] += tap * row[column + shift]
                }
                shift += 1
            }
        }
    }
}
