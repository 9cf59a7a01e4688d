import Base

/// Splits footprints one at a time into the objects that they consist of, in a way that depends on nothing else.
///
/// SEP gives the faint pixels between blended objects to one or the other at random, from one series of random numbers per
/// call. So the result for a blend would depend on all blends before it, and therefore on the sector. Here each footprint is
/// cut out and extracted alone. The cut-out holds the footprint's own pixels and those within a rim around it, and zeros
/// elsewhere. The rim is one pixel wider than the reach of the filter. So the pixels that touch the footprint stay as far below
/// the threshold as they were, and the footprint has the same outline, pixel for pixel.
struct Deblender {
    let extraction: SEPExtraction
    let levels: Int
    /// The rectangle of the image that was searched; below, its pixels.
    let rect: PixelRect
    let pixels: UnsafePointer<Float>

    /// The distance from the footprint to the edge of the cut-out.
    private var rim: Int { extraction.kernel.radius + 1 }

    /// The result of the split of a footprint.
    enum Split {
        case children(DetectionList)
        /// One object.
        case single
        /// More branches than SEP can tell apart.
        case overflow
    }

    /// The objects of the footprint.
    func split(_ parent: Detection, footprint: ArraySlice<Int32>) throws(SkyError) -> Split {
        let left = max(0, parent.minX - rim)
        let top = max(0, parent.minY - rim)
        let width = min(rect.width, parent.maxX + rim + 1) - left
        let height = min(rect.height, parent.maxY + rim + 1) - top
        // SEP computes the bytes of such a box in 32 bits, at 28 bytes a pixel.
        guard width * height < Int(Int32.max) / 28 else { return .overflow }

        var cutout = [Float](repeating: 0, count: width * height)
        var isOwn = [Bool](repeating: false, count: width * height)
        for pixel in footprint {
            let x = Int(pixel) % rect.width
            let y = Int(pixel) / rect.width
            isOwn[(y - top) * width + x - left] = true
            let columns = max(left, x - rim)..<min(left + width, x + rim + 1)
            for line in max(top, y - rim)..<min(top + height, y + rim + 1) {
                for column in columns {
                    cutout[(line - top) * width + column - left] = pixels[line * rect.width + column]
                }
            }
        }
        // A branch has at least three pixels, or the minimum area if that is less.
        let branches = footprint.count / min(extraction.minimumArea, 3) + 2
        let all = try cutout.withUnsafeBufferPointer { cutout throws(SkyError) -> DetectionList? in
            guard let base = cutout.baseAddress else { return DetectionList() }
            return try extraction.run(
                pixels: base, width: width, height: height, levels: levels, pixelStack: 2 * footprint.count + 1024,
                subObjects: branches,
                place: "deblending around \(rect.x + left), \(rect.y + top) (\(width) x \(height) pixels)")
        }
        guard let found = all else { return .overflow }
        var children = DetectionList()
        for child in found.objects {
            // The rim may hold parts of neighbours that are detected there, but do not belong to this footprint.
            guard let first = found.pixels[child.pixels].first, isOwn[Int(first)] else { continue }
            var moved = child
            moved.x += Double(left)
            moved.y += Double(top)
            moved.minX += left
            moved.maxX += left
            moved.minY += top
            moved.maxY += top
            (moved.outline, moved.isComplete, moved.turn) = (parent.outline, parent.isComplete, parent.turn)
            moved.turn.child = children.objects.count
            let (columns, wide) = (Int32(width), Int32(rect.width))
            let corner = Int32(top) * wide + Int32(left)
            children.append(
                moved, pixels: found.pixels[child.pixels].lazy.map { $0 / columns * wide + $0 % columns + corner })
        }
        return children.objects.count > 1 ? .children(children) : .single
    }
}
