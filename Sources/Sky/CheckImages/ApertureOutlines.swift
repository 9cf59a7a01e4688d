import Glibc

/// Draws the apertures of sources over an image: the Kron ellipse of `FLUX_AUTO` and the circles of `FLUX_APER`.
struct ApertureOutlines {
    let width: Int
    let height: Int
    /// The value of the pixels of a line.
    let ink: Float

    /// The largest distance of two neighbouring points of a line, in pixels.
    private static let step = 0.5
    /// The largest number of points of a line. In an ellipse that is larger than any image they are further apart.
    private static let mostPoints = 1 << 16

    func drawn(over pixels: [Float], _ sources: [Source], _ configuration: ScanConfiguration) -> [Float] {
        var pixels = pixels
        guard pixels.count == width * height else { return pixels }
        for source in sources {
            draw(source, source.kronRadius * source.a, source.kronRadius * source.b, source.theta, &pixels)
            for diameter in configuration.apertureDiameters { draw(source, diameter / 2, diameter / 2, 0, &pixels) }
        }
        return pixels
    }

    private func draw(
        _ source: Source, _ major: Double, _ minor: Double, _ degrees: Double, _ pixels: inout [Float]
    ) {
        guard major.isFinite, minor.isFinite, degrees.isFinite, major > 0, minor > 0 else { return }
        let count = Int(min(max(2 * .pi * major / Self.step, 16), Double(Self.mostPoints)))
        let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
        for point in 0..<count {
            let angle = 2 * .pi * Double(point) / Double(count)
            let (along, across) = (major * cos(angle), minor * sin(angle))
            let x = (source.x - 1 + along * cosine - across * sine).rounded()
            let y = (source.y - 1 + along * sine + across * cosine).rounded()
            guard x >= 0, y >= 0, x < Double(width), y < Double(height) else { continue }
            pixels[Int(y) * width + Int(x)] = ink
        }
    }
}
