import Glibc

/// The image of a point source of unit flux: the mean of an image's stars.
struct PointTemplate {
    /// Pixels on each side of the middle one.
    static let radius = 12
    private static let side = 2 * radius + 1

    /// Whether the template comes from stars; otherwise it is a Gaussian.
    let isMeasured: Bool
    /// Expected full width at half maximum in pixels.
    private let fwhm: Double
    /// The values row by row, with the point in the centre of the middle pixel.
    private var values: [Float]

    /// Fewer stars do not make a template.
    private static let leastStars = 3
    /// Beyond this many widths a template is only noise.
    private static let reach = 3.0

    /// The value in the middle, which turns the height of a peak into a flux.
    var peak: Double { Double(values[Self.radius * Self.side + Self.radius]) }

    /// The mean of some stamps of stars, each moved to the middle of a pixel and divided by its flux; a Gaussian if there are
    /// too few.
    ///
    /// - Parameters:
    ///   - fwhm: The expected full width at half maximum in pixels.
    ///   - image: Selects one of a stamp's images.
    init(stamps: [StarStamp], fwhm: Double, lanczos: LanczosFilter, image: (StarStamp) -> [Float]) {
        let side = Self.side
        self.fwhm = fwhm
        values = [Float](repeating: 0, count: side * side)
        var columns: [[Float]] = []
        for stamp in stamps {
            guard stamp.isPoint, stamp.flux > 0, stamp.radius >= Self.radius + 4, stamp.isClean(within: Self.radius)
            else { continue }
            let pixels = image(stamp)
            let wide = 2 * stamp.radius + 1
            var moved = [Float](repeating: 0, count: side * side)
            pixels.withUnsafeBufferPointer { pixels in
                guard let pixels = pixels.baseAddress else { return }
                for y in 0..<side {
                    for x in 0..<side {
                        let value = lanczos.value(
                            of: pixels, width: wide, height: wide,
                            x: Double(stamp.radius - Self.radius + x) + stamp.dx,
                            y: Double(stamp.radius - Self.radius + y) + stamp.dy)
                        moved[y * side + x] = (value ?? 0) / Float(stamp.flux)
                    }
                }
            }
            columns.append(moved)
        }
        let sigma = max(fwhm, 1) / Gaussian.fwhm
        if columns.count >= Self.leastStars {
            // The median is not affected by neighbours.
            let limit = Self.reach * fwhm
            for index in values.indices {
                let (dx, dy) = (index % side - Self.radius, index / side - Self.radius)
                guard Double(dx * dx + dy * dy) <= limit * limit else { continue }
                let sorted = columns.map { $0[index] }.sorted()
                values[index] = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
            }
        }
        let middle = Double(values[Self.radius * side + Self.radius])
        isMeasured = columns.count >= Self.leastStars && middle > 0.1 / (2 * .pi * sigma * sigma)
        if !isMeasured {
            for index in values.indices {
                let (dx, dy) = (Double(index % side - Self.radius), Double(index / side - Self.radius))
                values[index] = Float(exp(-(dx * dx + dy * dy) / (2 * sigma * sigma)) / (2 * .pi * sigma * sigma))
            }
        }
    }

    /// Narrower stars cannot be moved by parts of a pixel, because their pixels do not determine the light in between.
    private static let narrowest = 2.2

    /// Whether the shape that `shape` gives is that of the image's own stars.
    var isKnown: Bool { isMeasured && fwhm >= Self.narrowest }

    /// The shape of a point that lies (`dx`, `dy`) from the middle pixel's centre: (2 `reach` + 1) squared values. For narrow
    /// stars it is the light of a Moffat function in each pixel.
    func shape(dx: Double, dy: Double, reach: Int, lanczos: LanczosFilter) -> [Float] {
        guard fwhm < Self.narrowest else { return moved(dx: dx, dy: dy, reach: reach, lanczos: lanczos) }
        return Self.shape(MoffatProfile(fwhm: max(fwhm, 1)), dx: dx, dy: dy, reach: reach)
    }

    /// The same for a function: its light in each pixel.
    static func shape(_ profile: MoffatProfile, dx: Double, dy: Double, reach: Int) -> [Float] {
        (-reach...reach).flatMap { y in
            (-reach...reach).map { x in Float(profile.share(dx: Double(x) - dx, dy: Double(y) - dy)) }
        }
    }

    /// The template around a point that lies (`dx`, `dy`) from the middle pixel's centre: (2 `reach` + 1) squared values.
    func moved(dx: Double, dy: Double, reach: Int, lanczos: LanczosFilter) -> [Float] {
        let reach = min(max(reach, 0), Self.radius - 4)
        var result: [Float] = []
        result.reserveCapacity((2 * reach + 1) * (2 * reach + 1))
        values.withUnsafeBufferPointer { values in
            guard let values = values.baseAddress else { return }
            for y in -reach...reach {
                for x in -reach...reach {
                    result.append(
                        lanczos.value(
                            of: values, width: Self.side, height: Self.side,
                            x: Double(Self.radius + x) - dx, y: Double(Self.radius + y) - dy) ?? 0)
                }
            }
        }
        return result
    }
}
