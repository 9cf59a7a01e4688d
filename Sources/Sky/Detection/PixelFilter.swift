/// The detection filter as SEP applies it, in its order of operations. Its results are compared with the threshold.
struct PixelFilter {
    /// The pixels row by row; the caller owns the memory and keeps it alive.
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
        let isInside = y > 0 && y < height - 1 && columns.lowerBound > 0 && columns.upperBound < width
        if kernel.width == 3, kernel.height == 3, isInside { return runThree(y, columns, into: sums) }
        sums.update(repeating: 0, count: columns.count)
        // This avoids a slice for each line, because most runs are only some pixels long.
        weights.withUnsafeBufferPointer { weights in
            if let weights = weights.baseAddress { add(weights, y, columns, to: sums) }
        }
    }

    /// Writes the filtered values of a whole line. Its ends are filtered apart, so that the other pixels have all their neighbours.
    func run(line y: Int, into sums: UnsafeMutablePointer<Float>) {
        let rim = min(kernel.width / 2, width)
        let end = max(rim, width - rim)
        run(y, 0..<rim, into: sums)
        run(y, rim..<end, into: sums + rim)
        run(y, end..<width, into: sums + end)
    }

    /// Filters with the usual kernel size, away from the edges: all nine weights at once, in the same order.
    private func runThree(_ y: Int, _ columns: Range<Int>, into sums: UnsafeMutablePointer<Float>) {
        weights.withUnsafeBufferPointer { weights in
            let (a, b, c) = (weights[0], weights[1], weights[2])
            let (d, e, f) = (weights[3], weights[4], weights[5])
            let (g, h, i) = (weights[6], weights[7], weights[8])
            let above = pixels + (y - 1) * width + columns.lowerBound - 1
            let (above1, above2) = (above + 1, above + 2)
            let here = above + width
            let (here1, here2) = (here + 1, here + 2)
            let below = here + width
            let (below1, below2) = (below + 1, below + 2)
            for x in 0..<columns.count {
                let first = a * above[x] + b * above1[x] + c * above2[x]
                let second = first + d * here[x] + e * here1[x] + f * here2[x]
                sums[x] = second + g * below[x] + h * below1[x] + i * below2[x]
            }
        }
    }

    private func add(
        _ weights: UnsafePointer<Float>, _ y: Int, _ columns: Range<Int>, to sums: UnsafeMutablePointer<Float>
    ) {
        let (radius, reach, side, count) = (kernel.width / 2, kernel.height / 2, kernel.width, columns.count)
        for line in max(0, y - reach)...min(height - 1, y + reach) {
            let taps = weights + (line - y + reach) * side + radius
            let row = pixels + line * width
            var shift = -radius
            while shift <= radius {
                let tap = taps[shift]
                // Three weights are applied at a time, in the same order, if all their pixels lie in the rectangle.
                if shift + 2 <= radius, columns.lowerBound + shift >= 0, columns.upperBound + shift + 2 <= width {
                    let (next, last) = (taps[shift + 1], taps[shift + 2])
                    let first = row + columns.lowerBound + shift
                    // Each weight has a pointer of its own, because an index with an overflow check would prevent the
                    // calculation of four pixels at a time.
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
