import Base

/// The filtered image, at the pixels of footprints only. These are the values that detection compared with the threshold.
///
/// Deblending and CLEAN need the values again, and SEP, where it searched, does not hand out its own copy.
final class FilteredPixels {
    private let width: Int
    private let height: Int
    private let memory: ZeroedMemory<Float>
    /// The pixels that have values.
    private let footprints: [Int32]

    /// The values row by row, 0 outside of footprints. The pointer is valid as long as this object exists.
    var values: UnsafePointer<Float> { UnsafePointer(memory.start) }

    /// Filters the pixels of all footprints, in the order of operations of SEP; 0 elsewhere. Where the search has done so, its
    /// values are taken.
    ///
    /// - Throws: `.failed` if there is too little memory.
    init(
        _ pixels: UnsafePointer<Float>, width: Int, height: Int, footprints list: DetectionList, kernel: DetectionKernel
    ) throws(SkyError) {
        self.width = width
        self.height = height
        footprints = list.pixels
        memory = try ZeroedMemory(count: width * height)
        guard list.filtered.count != footprints.count else {
            for (pixel, value) in zip(footprints, list.filtered) { memory.start[Int(pixel)] = value }
            return
        }
        let filter = PixelFilter(pixels, width: width, height: height, kernel: kernel)
        var next = 0
        while next < footprints.count {
            // The pixels of a footprint come in runs along a line.
            let first = Int(footprints[next])
            let (x, y) = (first % width, first / width)
            var count = 1
            while next + count < footprints.count, Int(footprints[next + count]) == first + count, x + count < width {
                count += 1
            }
            filter.run(y, x..<x + count, into: memory.start + first)
            next += count
        }
    }

    deinit {
        for pixel in footprints { memory.start[Int(pixel)] = 0 }
        memory.isCleared()
    }

    /// Whether a footprint has more than one summit. If it has only one, no threshold cuts it in two, and there is nothing to
    /// deblend.
    func hasSeveralSummits(_ footprint: ArraySlice<Int32>) -> Bool {
        var summits = 0
        let values = memory.start
        let (width, height) = (width, height)
        for pixel in footprint {
            let value = values[Int(pixel)]
            let (row, column) = pixel.quotientAndRemainder(dividingBy: Int32(width))
            let (x, y) = (Int(column), Int(row))
            var isSummit = true
            if x > 0, x < width - 1, y > 0, y < height - 1 {
                let (here, above, below) = (
                    values + Int(pixel), values + Int(pixel) - width, values + Int(pixel) + width
                )
                isSummit =
                    !(here[-1] > value || here[1] > value || above[0] > value || below[0] > value
                    || above[-1] > value || above[1] > value || below[-1] > value || below[1] > value)
            } else {
                neighbours: for line in max(0, y - 1)...min(height - 1, y + 1) {
                    for column in max(0, x - 1)...min(width - 1, x + 1) where values[line * width + column] > value {
                        isSummit = false
                        break neighbours
                    }
                }
            }
            if isSummit { summits += 1 }
            if summits > 1 { return true }
        }
        return false
    }
}
