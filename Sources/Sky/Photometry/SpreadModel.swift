import Glibc

/// How much wider than the image's stars a source is. The measure is the difference between how well a star fits the source and
/// how well a slightly wider profile does (`SPREAD_MODEL`; Desai et al. 2012, ApJ 757, 83; its error by Bouy et al. 2013, A&A
/// 554, A101).
///
///     SPREAD_MODEL = (G' p) / (S' p) - (G' S) / (S' S)
///
/// p are the source's pixels, S is a star at the source's windowed position, and G is that star convolved with a round
/// exponential disk whose scale length is a sixteenth of the star's full width at half maximum. The star is a Gaussian here, as
/// wide as the image's stars. G is a Gaussian too, with the second moments of the disk added; it agrees with the exact profile
/// to a fiftieth of the difference between S and G. The error against the wings of real stars is the same for all of them, and
/// ``calibrate(_:)`` takes it out.
struct SpreadModel {
    /// Variances of S and G along an axis, in square pixels.
    private let (star, disk): (Double, Double)
    /// The radius around the centre within which pixels are used.
    let radius: Double

    /// Wider stars have no `SPREAD_MODEL`. For this width, all pixels within the radius are among those that every sector reads
    /// around a source (`SegmentMap.sight`).
    static let largestWidth = 24.0
    private static let reach = 2.0
    /// The scale length of the disk in widths of the star.
    private static let scale = 1 / 16.0
    private static let widthOfSigma = 2 * (2 * log(2.0)).squareRoot()

    /// - Parameter fwhm: The full width at half maximum of the image's stars in pixels. The initializer returns `nil` for a
    ///   width that stars cannot have.
    init?(fwhm: Double) {
        guard fwhm >= Seeing.widths.lowerBound, fwhm <= Self.largestWidth else { return nil }
        let sigma = fwhm / Self.widthOfSigma
        // An exponential disk has a second moment of three squared scale lengths along each axis.
        (star, disk) = (sigma * sigma, sigma * sigma + 3 * (Self.scale * fwhm) * (Self.scale * fwhm))
        radius = max(3, Self.reach * fwhm)
    }

    /// - Parameters:
    ///   - pixels: The pixels without background and neighbours, `width` in a row; `noises` are theirs, if the noise differs
    ///     from pixel to pixel.
    ///   - noise: The 1-sigma noise of every pixel otherwise.
    ///   - level: The level of the source's own background.
    ///   - x: The place of the source's centre among the pixels, counted from 0.
    /// - Returns: The value and its error, both 0 if there is no light with a width.
    func measure(
        _ pixels: UnsafePointer<Float>, _ noises: UnsafePointer<Float>?, width: Int, height: Int, x: Double, y: Double,
        noise: Double, gain: Double, level: Double = 0
    ) -> (value: Double, error: Double) {
        let (columns, lines) = (
            ApertureBox.range(around: x, reach: radius, of: width),
            ApertureBox.range(around: y, reach: radius, of: height)
        )
        guard !columns.isEmpty, !lines.isEmpty else { return (0, 0) }
        let (starX, starY) = (Self.profile(columns, x, star), Self.profile(lines, y, star))
        let (diskX, diskY) = (Self.profile(columns, x, disk), Self.profile(lines, y, disk))
        var (starLight, diskLight, starStar, diskStar) = (0.0, 0.0, 0.0, 0.0)
        var (starNoise, diskNoise, bothNoise) = (0.0, 0.0, 0.0)
        for (row, line) in lines.enumerated() {
            for (place, column) in columns.enumerated() {
                let index = line * width + column
                let (s, g) = (starY[row] * starX[place], diskY[row] * diskX[place])
                let value = Double(pixels[index]) - level
                let sigma = noises.map { Double($0[index]) } ?? noise
                let variance = sigma * sigma + (gain > 0 && value > 0 ? value / gain : 0)
                starLight += s * value
                diskLight += g * value
                starStar += s * s
                diskStar += g * s
                starNoise += variance * s * s
                diskNoise += variance * g * g
                bothNoise += variance * g * s
            }
        }
        guard starLight > 0, starStar > 0 else { return (0, 0) }
        let value = diskLight / starLight - diskStar / starStar
        let square =
            diskNoise * starLight * starLight + starNoise * diskLight * diskLight
            - 2 * bothNoise * starLight * diskLight
        let error = max(0, square).squareRoot() / (starLight * starLight)
        return value.isFinite && error.isFinite ? (value, error) : (0, 0)
    }

    /// The light of a Gaussian in pixels along an axis.
    private static func profile(_ pixels: Range<Int>, _ centre: Double, _ variance: Double) -> [Double] {
        let scale = 1 / (2 * variance).squareRoot()
        return pixels.map { pixel in
            let low = (Double(pixel) - 0.5 - centre) * scale
            return (erf(low + scale) - erf(low)) / 2
        }
    }

    /// Shifts all spreads so that the median of the image's stars is zero, because no star is exactly a Gaussian.
    static func calibrate(_ sources: inout [Source]) {
        // Most catalogues have no spread, and the measurement of the widths takes time.
        guard sources.contains(where: { ($0.further?.spread.error ?? 0) > 0 }),
            let seeing = StarWidths(sources).seeing
        else { return }
        let stars = sources.filter { source in
            StarWidths.looksLikeStar(source) && abs(log(source.fwhm / seeing.fwhm)) < likeStars
                && (source.further?.spread.error ?? 0) > 0
        }
        guard stars.count >= fewestStars,
            let middle = RobustStatistics.median(stars.compactMap(\.further?.spread.value))
        else { return }
        for index in sources.indices where (sources[index].further?.spread.error ?? 0) > 0 {
            sources[index].further?.spread.value -= middle
        }
    }

    /// The largest error of a star's width, in the logarithm.
    private static let likeStars = 0.1
    private static let fewestStars = 4
}
