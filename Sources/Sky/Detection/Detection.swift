/// An object that SEP found, copied out of its catalogue, before anything is measured in apertures.
package struct Detection {
    /// Barycentre, pixels counted from 0 at the corner of the rectangle that was searched.
    ///
    /// Rounded to 2^-20 pixel: a sector's corner then adds without rounding, and apertures around the source see
    /// the same distances in every sector that could hold it.
    package var x: Double
    package var y: Double
    /// Ellipse: rms along the axes in pixels, angle in radians; and the same as cxx x^2 + cyy y^2 + cxy x y = r^2.
    package var a: Float
    package var b: Float
    package var theta: Float
    var cxx: Float
    var cyy: Float
    var cxy: Float
    /// Summed flux of the pixels, of the filtered and of the unfiltered image.
    var filteredFlux: Float
    package var flux: Float
    package var peak: Float
    /// Detection threshold in units of the image.
    package var threshold: Float
    /// Pixels above the threshold in the unfiltered image; the footprint counts those of the filtered one.
    package var area: Int
    /// SEP's own bits.
    package var flags: Int16
    /// Inclusive bounds of the footprint.
    var minX: Int
    var maxX: Int
    var minY: Int
    var maxY: Int
    /// Where the footprint's pixels lie in `DetectionList.pixels`, in SEP's order.
    package var pixels: Range<Int>
    /// The box of the footprint that it was split from, in the rectangle that was searched.
    package var outline = PixelRect(x: 0, y: 0, width: 0, height: 0)
    /// Whether that footprint lies whole inside the rectangle.
    var isComplete = true
    /// Whether it has more branches than could be told apart.
    var isUndivided = false
    /// When SExtractor's scan would come to it, in the rectangle that was searched.
    var turn = DetectionTurn()

    /// The pixel that its barycentre lies in.
    var pixel: (x: Int, y: Int) { (Int(x.rounded()), Int(y.rounded())) }

    package static func rounded(_ position: Double) -> Double {
        (position * 1_048_576).rounded() / 1_048_576
    }
}

/// When SExtractor, which reads an image line by line, knows that a footprint has ended: CLEAN takes objects in this order.
struct DetectionTurn: Hashable {
    /// The footprint's last line.
    var line = 0
    /// The last column of the footprint in that line.
    var column = 0
    /// Place among the objects that the footprint was split into.
    var child = 0

    init() {}

    /// - Parameters:
    ///   - footprint: Pixels of a rectangle of `width` columns, in any order.
    ///   - line: The last of them.
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

    /// Adds a detection with its own footprint.
    mutating func append(_ object: Detection, pixels footprint: some Sequence<Int32>) {
        var object = object
        let start = pixels.count
        pixels.append(contentsOf: footprint)
        object.pixels = start..<pixels.count
        objects.append(object)
    }
}
