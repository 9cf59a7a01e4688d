import Base

/// The light of an injection's stars in one image.
///
/// The light is evaluated at the image's own coordinates and added star by star in their order, so that a pixel has the same
/// bits in any rectangle with which it is read.
package struct InjectedLight {
    /// The values on which the light depends.
    package struct Origin: Hashable {
        package var injection: Injection
        package var width: Int
        package var height: Int
        /// Electrons per unit of the image; 0 adds no noise of the stars' own light.
        package var gain: Double
        /// The highest value of a pixel; `nil` for none.
        package var saturation: Double?
    }

    package let origin: Origin
    package let stars: [InjectedStar]

    /// - Throws: `.badInput` for an injection with more stars than the image has room for.
    init(_ origin: Origin) throws(SkyError) {
        self.origin = origin
        stars = try StarPlacement(origin.injection, width: origin.width, height: origin.height).stars
    }

    /// Adds the stars to the pixels of a rectangle, which lie row by row. A pixel without a value stays without one, and a
    /// saturated pixel stays as it is.
    package func add(to values: inout [Float], rect: PixelRect) {
        switch origin.injection.profile {
        case .moffat: add(MoffatProfile(fwhm: origin.injection.fwhm), to: &values, rect)
        case .gaussian: add(GaussianProfile(fwhm: origin.injection.fwhm), to: &values, rect)
        }
    }

    private func add(_ profile: some PointProfile, to values: inout [Float], _ rect: PixelRect) {
        let reach = profile.reach.rounded(.up)
        let ceiling = origin.saturation.map { Float($0) } ?? .infinity
        for star in stars {
            let (x, y) = (star.x - 1, star.y - 1)
            let columns = Self.span(around: x, reach, rect.x..<rect.right)
            let rows = Self.span(around: y, reach, rect.y..<rect.bottom)
            guard !columns.isEmpty, !rows.isEmpty else { continue }
            let noise = PhotonNoise(seed: origin.injection.seed, star: star.number, gain: origin.gain)
            for row in rows {
                let start = (row - rect.y) * rect.width - rect.x
                for column in columns {
                    let value = values[start + column]
                    // The test is false for NaN too.
                    guard value < ceiling else { continue }
                    let light = star.flux * profile.share(dx: Double(column) - x, dy: Double(row) - y)
                    let deviation = noise?.deviation(light: light, x: column, y: row) ?? 0
                    values[start + column] = min(value + Float(light + deviation), ceiling)
                }
            }
        }
    }

    /// The pixels of one axis within `reach` of a centre.
    private static func span(around centre: Double, _ reach: Double, _ pixels: Range<Int>) -> Range<Int> {
        (Int((centre - reach).rounded(.up))..<Int((centre + reach).rounded(.down)) + 1).clamped(to: pixels)
    }
}
