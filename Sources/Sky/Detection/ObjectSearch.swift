/// Finds the objects of a rectangle of pixels, and splits them.
///
/// The objects are bit by bit those of SEP 1.2.1's `sep_extract` with one noise for all pixels, without a mask and without CLEAN; a
/// test compares them.
struct ObjectSearch {
    let kernel: DetectionKernel
    /// The threshold in units of the image.
    let threshold: Float
    let minimumArea: Int
    /// Deblending levels; 1 leaves every object whole.
    let levels: Int
    let contrast: Double

    /// - Returns: `nil` if only SEP can tell.
    func objects(_ pixels: UnsafePointer<Float>, width: Int, height: Int) -> (found: [FoundObject], list: PixelList)? {
        let filter = PixelFilter(pixels, width: width, height: height, kernel: kernel)
        let (scan, branchScan) = (LutzScan(width: width), LutzScan(width: levels > 1 ? width : 0))
        var list = PixelList()
        var roots: [FoundObject] = []
        let threshold = threshold
        withUnsafeTemporaryAllocation(of: Float.self, capacity: width) { line in
            guard let line = line.baseAddress else { return }
            for y in 0...height {
                let row = y * width
                if y < height {
                    filter.run(line: y, into: line)
                } else {
                    line.initialize(repeating: -.infinity, count: width)
                }
                scan.reserve(list.places.count + width)
                scan.line(
                    0..<width,
                    pixel: { x in
                        guard line[x] > threshold else { return -1 }
                        list.places.append(Int32(row + x))
                        list.values.append(pixels[row + x])
                        list.filtered.append(line[x])
                        return Int32(list.places.count - 1)
                    },
                    touchesEdge: { $0 == 0 || $0 == width - 1 || y == 0 || y == height - 1 },
                    skip: { first in
                        // Most pixels are sky.
                        var x = first
                        while x + 8 <= width {
                            var bright: Int32 = 0
                            for place in x..<x + 8 { bright |= line[place] > threshold ? 1 : 0 }
                            if bright != 0 { break }
                            x += 8
                        }
                        return x
                    }
                ) { part in
                    guard part.count >= minimumArea else { return }
                    var numbers: [Int32] = []
                    numbers.reserveCapacity(part.count)
                    scan.forEachPixel(of: part) { numbers.append($0) }
                    roots.append(
                        FoundObject(
                            pixels: numbers, threshold: threshold, flags: part.touchesEdge ? FoundObject.edge : 0))
                }
            }
        }
        var found: [FoundObject] = []
        var faint = FaintPixels()
        for var root in roots {
            if levels > 1 {
                root.sum(list, width: width)
                var tree = BlendTree(
                    root, list, width: width, levels: levels, contrast: contrast, minimumArea: minimumArea)
                branchScan.reserve(root.pixels.count)
                guard let branches = tree.objects(branchScan, height: height) else { return nil }
                if !branches.isEmpty {
                    guard let parts = faint.share(root, among: branches, list, width: width) else { return nil }
                    found.append(
                        contentsOf: parts.map { part in
                            var part = part
                            part.measure(list, width: width, keepsPlace: true)
                            return part
                        })
                    continue
                }
            }
            root.measure(list, width: width, keepsPlace: true)
            found.append(root)
        }
        return (found, list)
    }
}
