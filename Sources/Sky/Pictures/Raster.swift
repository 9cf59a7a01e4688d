import Glibc

/// Colour pixels to draw on, 8 bits each of red, green and blue, the first row at the top.
struct Raster {
    /// A colour and how opaque it is, all from 0 to 1.
    struct Ink: Hashable {
        var red: Float
        var green: Float
        var blue: Float
        var opacity: Float
    }

    let width: Int
    let height: Int
    /// The rows as a PNG file has them: the number of a filter, which is 0 for none, and then the pixels.
    private(set) var rows: [UInt8]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        rows = [UInt8](repeating: 0, count: height * (1 + width * 3))
    }

    /// The place of a pixel among the bytes of the rows.
    private func place(_ x: Int, _ y: Int) -> Int { y * (1 + width * 3) + 1 + x * 3 }

    /// The colour of a pixel.
    func colour(x: Int, y: Int) -> [UInt8] { Array(rows[place(x, y)..<place(x + 1, y)]) }

    /// Sets the pixels of a row to grey values, each for as many pixels as `scale` says.
    mutating func setGreys(_ greys: ArraySlice<UInt8>, scale: Int = 1, y: Int) {
        var index = place(0, y)
        let count = width / scale
        rows.withUnsafeMutableBufferPointer { rows in
            for grey in greys.prefix(count) {
                for _ in 0..<scale * 3 {
                    rows[index] = grey
                    index += 1
                }
            }
        }
    }

    /// Sets pixels of a row to a colour, whatever its opacity.
    mutating func fill(_ ink: Ink, _ columns: Range<Int>, y: Int) {
        let colour = [ink.red, ink.green, ink.blue].map { UInt8(min(max($0 * 255, 0), 255).rounded()) }
        for x in columns.clamped(to: 0..<width) {
            let index = place(x, y)
            for (offset, value) in colour.enumerated() { rows[index + offset] = value }
        }
    }

    /// Lays `ink` over a pixel with the given share of it covered.
    mutating func blend(_ ink: Ink, coverage: Float, x: Int, y: Int) {
        guard x >= 0, y >= 0, x < width, y < height else { return }
        let index = place(x, y)
        rows.withUnsafeMutableBufferPointer { Self.blend(ink, coverage, $0, index) }
    }

    @inline(__always)
    private static func blend(
        _ ink: Ink, _ coverage: Float, _ rows: UnsafeMutableBufferPointer<UInt8>, _ index: Int
    ) {
        let opacity = ink.opacity * min(max(coverage, 0), 1)
        guard opacity > 0 else { return }
        func mix(_ offset: Int, _ value: Float) {
            let old = Float(rows[index + offset])
            // Both are from 0 to 255, and so is what lies between them. `rounded` would be a call for each.
            rows[index + offset] = UInt8(old + (value * 255 - old) * opacity + 0.5)
        }
        mix(0, ink.red)
        mix(1, ink.green)
        mix(2, ink.blue)
    }

    /// Draws the outline of an ellipse, anti-aliased: the coverage of a pixel follows from its distance to the curve.
    ///
    /// The distance is f / |grad f| with f = sqrt((u/a)^2 + (v/b)^2) - 1 in the ellipse's own axes, exact for a
    /// circle and to first order for an ellipse (Taubin 1994, ACM Trans. Graph. 13, 3).
    ///
    /// - Parameters:
    ///   - ellipse: The centre and the semi-axes in pixels of the raster, y down; the first pixel's centre is at (0, 0).
    ///   - line: The width of the line in pixels.
    mutating func stroke(_ ellipse: SourceEllipse, line: Double, ink: Ink) {
        let angle = ellipse.degrees * .pi / 180
        let (c, s) = (cos(angle), sin(angle))
        let rim = line / 2 + 1
        let outer = (ellipse.major + rim, ellipse.minor + rim)
        let inner = (ellipse.major - rim, ellipse.minor - rim)
        let reach = (outer.0 * outer.0 * s * s + outer.1 * outer.1 * c * c).squareRoot()
        let curve = Curve(ellipse, c, s, half: line / 2 + 0.5)
        for y in PixelCanvas.span(around: ellipse.y, reach: reach, size: height) {
            let dy = Double(y) - ellipse.y
            guard let chord = Self.chord(dy, outer, c, s) else { continue }
            let columns = PixelCanvas.span(around: ellipse.x + chord.middle, reach: chord.half, size: width)
            // Only the ring is visited, so that a huge outline takes time for its length and not for its area.
            guard inner.0 > 0, inner.1 > 0, let hole = Self.chord(dy, inner, c, s) else {
                stroke(curve, columns, y: y, ink)
                continue
            }
            let gap = PixelCanvas.span(around: ellipse.x + hole.middle, reach: hole.half, size: width)
            stroke(
                curve, columns.lowerBound..<max(columns.lowerBound, min(gap.lowerBound, columns.upperBound)), y: y, ink)
            stroke(
                curve, min(max(gap.upperBound, columns.lowerBound), columns.upperBound)..<columns.upperBound, y: y, ink)
        }
    }

    /// Draws a ring, anti-aliased.
    ///
    /// - Parameters:
    ///   - rings: Rings whose stride is this raster's.
    ///   - x: The centre's column; the first pixel's centre is at 0.
    ///   - y: The centre's row, from the top.
    mutating func stroke(_ rings: RingStamps, x: Double, y: Double, ink: Ink) {
        // A picture may be narrower than a ring.
        func hasRoom(_ position: Double, _ size: Int) -> Bool {
            position + 0.5 >= Double(rings.reach) && position + 0.5 < Double(size - rings.reach)
        }
        guard hasRoom(x, width), hasRoom(y, height) else {
            return stroke(SourceEllipse(x: x, y: y, radius: rings.radius), line: rings.line, ink: ink)
        }
        let (column, row) = (x.rounded(), y.rounded())
        let centre = place(Int(column), Int(row))
        func level(_ share: Float) -> Int { Int(min(max(share, 0), 1) * 255 + 0.5) }
        let (red, green, blue, opacity) = (level(ink.red), level(ink.green), level(ink.blue), level(ink.opacity))
        rows.withUnsafeMutableBufferPointer { rows in
            // Whole numbers, because most of the time for a crowded field goes here.
            for pixel in rings.ring(x: x - column, y: y - row) {
                let (index, share) = (centre + pixel.offset, pixel.coverage * opacity)
                func mix(_ index: Int, _ value: Int) {
                    let old = Int(rows[index])
                    rows[index] = UInt8(
                        truncatingIfNeeded: old + ((value - old) * share + RingStamps.half) >> RingStamps.shift)
                }
                mix(index, red)
                mix(index + 1, green)
                mix(index + 2, blue)
            }
        }
    }

    /// Rings for this raster.
    func rings(radius: Double, line: Double) -> RingStamps {
        RingStamps(radius: radius, line: line, stride: 1 + width * 3)
    }

    /// Draws the part of an outline that is in these columns of a row.
    private mutating func stroke(_ curve: Curve, _ columns: Range<Int>, y: Int, _ ink: Ink) {
        var index = place(columns.lowerBound, y)
        rows.withUnsafeMutableBufferPointer { rows in
            for x in columns {
                let coverage = curve.coverage(x, y)
                // The test is false where there is no direction to the curve: in the middle.
                if coverage > 0 { Self.blend(ink, coverage, rows, index) }
                index += 3
            }
        }
    }

    /// An ellipse in its own axes.
    struct Curve {
        private let x: Float
        private let y: Float
        /// A step along x and one along y, along the major axis and along the minor axis, in semi-axes.
        private let major: (Float, Float)
        private let minor: (Float, Float)
        private let inverse: (Float, Float)
        private let half: Float

        /// - Parameter half: Half the width of the line, and of a pixel.
        init(_ ellipse: SourceEllipse, _ c: Double, _ s: Double, half: Double) {
            (x, y, self.half) = (Float(ellipse.x), Float(ellipse.y), Float(half))
            (major, minor) = (
                (Float(c / ellipse.major), Float(s / ellipse.major)),
                (Float(-s / ellipse.minor), Float(c / ellipse.minor))
            )
            inverse = (Float(1 / (ellipse.major * ellipse.major)), Float(1 / (ellipse.minor * ellipse.minor)))
        }

        /// The share of a pixel that the line covers, or more than 1, or less than 0.
        @inline(__always)
        func coverage(_ column: Int, _ row: Int) -> Float {
            let (dx, dy) = (Float(column) - x, Float(row) - y)
            let (u, v) = (dx * major.0 + dy * major.1, dx * minor.0 + dy * minor.1)
            let (uu, vv) = (u * u, v * v)
            let square = uu + vv
            return half - abs(square - square.squareRoot()) / (uu * inverse.0 + vv * inverse.1).squareRoot()
        }
    }

    /// The middle and the half-length of the part of the row `dy` that lies inside an ellipse; `nil` if no part does.
    private static func chord(
        _ dy: Double, _ axes: (Double, Double), _ c: Double, _ s: Double
    ) -> (middle: Double, half: Double)? {
        let (p, q) = (1 / (axes.0 * axes.0), 1 / (axes.1 * axes.1))
        let a = c * c * p + s * s * q
        let b = c * s * (p - q) * dy
        let e = (s * s * p + c * c * q) * dy * dy - 1
        let discriminant = b * b - a * e
        return discriminant >= 0 ? (-b / a, discriminant.squareRoot() / a) : nil
    }
}
