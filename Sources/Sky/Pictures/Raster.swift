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
    private(set) var bytes: [UInt8]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        bytes = [UInt8](repeating: 0, count: width * height * 3)
    }

    /// Sets the pixels of a row to grey values, each for as many pixels as `scale` says.
    mutating func setGreys(_ greys: ArraySlice<UInt8>, scale: Int = 1, y: Int) {
        let width = width
        bytes.withUnsafeMutableBufferPointer { bytes in
            var index = y * width * 3
            for grey in greys.prefix(width / scale) {
                for _ in 0..<scale * 3 {
                    bytes[index] = grey
                    index += 1
                }
            }
        }
    }

    /// Sets pixels of a row to a colour, whatever its opacity.
    mutating func fill(_ ink: Ink, _ columns: Range<Int>, y: Int) {
        let colour = [ink.red, ink.green, ink.blue].map { UInt8(min(max($0 * 255, 0), 255).rounded()) }
        for x in columns.clamped(to: 0..<width) {
            for (offset, value) in colour.enumerated() { bytes[(y * width + x) * 3 + offset] = value }
        }
    }

    /// Lays `ink` over a pixel with the given share of it covered.
    mutating func blend(_ ink: Ink, coverage: Float, x: Int, y: Int) {
        let opacity = ink.opacity * min(max(coverage, 0), 1)
        guard opacity > 0, x >= 0, y >= 0, x < width, y < height else { return }
        let index = (y * width + x) * 3
        func mix(_ offset: Int, _ value: Float) {
            let old = Float(bytes[index + offset])
            bytes[index + offset] = UInt8((old + (value * 255 - old) * opacity).rounded())
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
        for y in PixelCanvas.span(around: ellipse.y, reach: reach, size: height) {
            let dy = Double(y) - ellipse.y
            guard let chord = Self.chord(dy, outer, c, s) else { continue }
            // The loop visits only the ring, so that a huge outline takes time for its length and not for its area.
            let hole = inner.0 > 0 && inner.1 > 0 ? Self.chord(dy, inner, c, s) : nil
            for x in PixelCanvas.span(around: ellipse.x + chord.middle, reach: chord.half, size: width) {
                let dx = Double(x) - ellipse.x
                if let hole, abs(dx - hole.middle) < hole.half { continue }
                let u = (dx * c + dy * s) / ellipse.major
                let v = (dy * c - dx * s) / ellipse.minor
                let radius = (u * u + v * v).squareRoot()
                let slope = (u * u / (ellipse.major * ellipse.major) + v * v / (ellipse.minor * ellipse.minor))
                    .squareRoot()
                guard slope > 0 else { continue }
                let distance = abs(radius - 1) * radius / slope
                blend(ink, coverage: Float(line / 2 + 0.5 - distance), x: x, y: y)
            }
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
