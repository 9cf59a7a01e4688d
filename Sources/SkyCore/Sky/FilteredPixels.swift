/// The filtered image, at the pixels of footprints only: what detection compared with the threshold.
///
/// SEP keeps its own copy to itself; deblending and CLEAN need it again.
struct FilteredPixels {
    private let width: Int
    private let height: Int
    private(set) var values: [Float]

    /// Filters the pixels of all `footprints`, in the order of operations of SEP; 0 elsewhere.
    init(
        _ pixels: UnsafePointer<Float>, width: Int, height: Int, footprints: [Int32], kernel: DetectionKernel
    ) {
        self.width = width
        self.height = height
        values = [Float](repeating: 0, count: width * height)
        let (weights, radius, side) = (kernel.normed, kernel.radius, kernel.side)
        values.withUnsafeMutableBufferPointer { values in
            weights.withUnsafeBufferPointer { weights in
                for pixel in footprints {
                    guard !weights.isEmpty else {
                        values[Int(pixel)] = pixels[Int(pixel)]
                        continue
                    }
                    let (x, y) = (Int(pixel) % width, Int(pixel) / width)
                    var sum: Float = 0
                    for line in max(0, y - radius)...min(height - 1, y + radius) {
                        let weight = (line - y + radius) * side + radius - x
                        for column in max(0, x - radius)...min(width - 1, x + radius) {
                            sum += weights[weight + column] * pixels[line * width + column]
                        }
                    }
                    values[Int(pixel)] = sum
                }
            }
        }
    }

    /// Whether a footprint has more than one summit. With one, no threshold cuts it in two: nothing to deblend.
    func hasSeveralSummits(_ footprint: ArraySlice<Int32>) -> Bool {
        var summits = 0
        return values.withUnsafeBufferPointer { values in
            for pixel in footprint {
                let value = values[Int(pixel)]
                let (x, y) = (Int(pixel) % width, Int(pixel) / width)
                var isSummit = true
                neighbours: for line in max(0, y - 1)...min(height - 1, y + 1) {
                    for column in max(0, x - 1)...min(width - 1, x + 1) where values[line * width + column] > value {
                        isSummit = false
                        break neighbours
                    }
                }
                if isSummit { summits += 1 }
                if summits > 1 { return true }
            }
            return false
        }
    }
}
