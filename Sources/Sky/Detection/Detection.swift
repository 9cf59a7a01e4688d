/// An object that was found, before anything is measured in apertures.
package struct Detection {
    /// Barycentre, pixels counted from 0 at the corner of the rectangle that was searched.
    ///
    /// The position is rounded to 2^-20 pixel. So the addition of a sector's corner needs no rounding, and apertures around the
    /// source have the same distances in every sector that could hold it.
    package var x: Double
    package var y: Double
    /// The ellipse: the rms along the axes in pixels, and the angle in radians. Below is the same ellipse as cxx x^2 + cyy y^2
    /// + cxy x y = r^2.
    package var a: Float
    package var b: Float
    package var theta: Float
    var cxx: Float
    var cyy: Float
    var cxy: Float
    /// The summed flux of the pixels of the filtered image; below, that of the unfiltered image.
    var filteredFlux: Float
    package var flux: Float
    package var peak: Float
    /// Detection threshold in units of the image.
    package var threshold: Float
    /// The number of pixels above the threshold in the unfiltered image; the footprint counts those of the filtered one.
    package var area: Int
    /// The bits of SEP's flags.
    package var flags: Int16
    /// Inclusive bounds of the footprint.
    var minX: Int
    var maxX: Int
    var minY: Int
    var maxY: Int
    /// The same bounds as a rectangle.
    var bounds: PixelRect { PixelRect(x: minX, y: minY, width: maxX - minX + 1, height: maxY - minY + 1) }
    /// The place of the footprint's pixels in `DetectionList.pixels`, in SEP's order.
    package var pixels: Range<Int>
    /// The box of the footprint that it was split from, in the rectangle that was searched.
    package var outline = PixelRect(x: 0, y: 0, width: 0, height: 0)
    /// Whether all of that footprint lies inside the rectangle.
    var isComplete = true
    /// Whether the footprint has more branches than the deblending can tell apart.
    var isUndivided = false
    /// The moment at which SExtractor's scan would come to the object, in the rectangle that was searched.
    var turn = DetectionTurn()

    /// The pixel that holds its barycentre.
    var pixel: (x: Int, y: Int) { (Int(x.rounded()), Int(y.rounded())) }

    package static func rounded(_ position: Double) -> Double {
        (position * 1_048_576).rounded() / 1_048_576
    }
}

/// The moment at which SExtractor, which reads an image line by line, knows that a footprint has ended. CLEAN takes objects in
/// this order.
struct DetectionTurn: Hashable {
    /// The footprint's last line.
    var line = 0
    /// The last column of the footprint in that line.
    var column = 0
    /// The place among the objects into which the footprint was split.
    var child = 0

    init() {}

    /// - Parameters:
    ///   - footprint: The pixels in a rectangle of `width` columns, in any order.
    ///   - line: The last line of the footprint.
    init(_ footprint: ArraySlice<Int32>, line: Int, width: Int) {
        self.line = line
        let first = Int32(line * width)
        column = Int((footprint.max() ?? first) - first)
    }
}

/// Detections and the pixels of their footprints, as indices into the rectangle that was searched.
struct DetectionList {
    var objects: [Detection] = []
    var pixels: [Int32] = []
    /// The filtered values of the pixels, where our own search found them; otherwise empty.
    var filtered: [Float] = []

    /// Adds a detection with its own footprint.
    mutating func append(_ object: Detection, pixels footprint: some Sequence<Int32>) {
        var object = object
        let start = pixels.count
        pixels.append(contentsOf: footprint)
        object.pixels = start..<pixels.count
        objects.append(object)
    }
}
