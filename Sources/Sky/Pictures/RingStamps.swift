/// Rings of one size, drawn beforehand for centres in every eighth of a pixel: most of a picture's marks are the smallest ones, and a
/// crowded field has a hundred thousand. No ring is further than a sixteenth of a pixel from its place.
struct RingStamps {
    /// A pixel of a ring.
    struct Pixel {
        /// Bytes from the pixel with the centre in it.
        var offset: Int
        /// The share of the pixel that the ring covers, from 0 to `whole`.
        var coverage: Int
    }

    /// The coverage of a pixel that is wholly covered. Times an opacity of 255, it is 1 beneath `shift` bits.
    private static let whole = (1 << shift) / 255
    static let shift = 20
    static let half = 1 << (shift - 1)

    let radius: Double
    /// The width of the line in pixels.
    let line: Double
    /// The pixels that a ring reaches from the one with its centre in it.
    let reach: Int
    private let rings: [[Pixel]]

    private static let phases = 8

    /// - Parameter stride: the bytes from a pixel to the one below it; a pixel has three.
    init(radius: Double, line: Double, stride: Int) {
        (self.radius, self.line) = (radius, line)
        let reach = Int(radius + line / 2 + 2)
        self.reach = reach
        rings = (0..<Self.phases * Self.phases).map { phase in
            let centre = SourceEllipse(
                x: Self.middle(of: phase % Self.phases), y: Self.middle(of: phase / Self.phases), radius: radius)
            let curve = Raster.Curve(centre, 1, 0, half: line / 2 + 0.5)
            var pixels: [Pixel] = []
            for y in -reach...reach {
                for x in -reach...reach {
                    let coverage = curve.coverage(x, y)
                    guard coverage > 0 else { continue }
                    pixels.append(
                        Pixel(offset: y * stride + x * 3, coverage: Int(min(coverage, 1) * Float(Self.whole))))
                }
            }
            return pixels
        }
    }

    /// Where in its pixel, from -0.5 to 0.5, the centres of a phase lie.
    private static func middle(of phase: Int) -> Double { (Double(phase) + 0.5) / Double(phases) - 0.5 }

    /// The ring around a place.
    ///
    /// - Parameters:
    ///   - x: Pixels to the right of the middle of the pixel with the centre in it, from -0.5 to 0.5.
    ///   - y: Pixels below it, from -0.5 to 0.5.
    func ring(x: Double, y: Double) -> [Pixel] { rings[Self.phase(y) * Self.phases + Self.phase(x)] }

    private static func phase(_ position: Double) -> Int {
        min(max(Int((position + 0.5) * Double(phases)), 0), phases - 1)
    }
}
