import Glibc

/// How much wider than the image's stars a source is: the difference between how well a star and how well a slightly wider
/// profile fits it (`SPREAD_MODEL`; Desai et al. 2012, ApJ 757, 83; its error by Bouy et al. 2013, A&A 554, A101).
///
///     SPREAD_MODEL = (G' p) / (S' p) - (G' S) / (S' S)
///
/// p are the source's pixels, S is a star at its windowed position, G that star convolved with a round exponential disk whose scale
/// length is a sixteenth of the star's full width at half maximum. The star here is a Gaussian as wide as the image's stars, and
/// so is G, with the disk's second moments added: the two agree to a fiftieth of their difference. What this misses of
/// real stars' wings is the same for all of them, and ``calibrate(_:)`` takes it out.
struct SpreadModel {
    /// Variances of S and G along an axis, in square pixels.
    private let (star, disk): (Double, Double)
    /// How far from the centre pixels are looked at.
    let radius: Double

    /// Stars that are wider have no `SPREAD_MODEL`: pixels as far away as it takes are in what every sector reads of a source's
    /// surroundings (`SegmentMap.sight`).
    static let largestWidth = 24.0
    private static let reach = 2.0
    /// Scale length of the disk in widths of the star.
    private static let scale = 1 / 16.0
    private static let widthOfSigma = 2 * (2 * log(2.0)).squareRoot()

    /// - Parameter fwhm: Full width at half maximum of the image's stars in pixels; `nil` is returned for what they cannot have.
    init?(fwhm: Double) {
        guard fwhm >= Seeing.widths.lowerBound, fwhm <= Self.largestWidth else { return nil }
        let sigma = fwhm / Self.widthOfSigma
        // An exponential disk has a second moment of three squared scale lengths along each axis.
        (star, disk) = (sigma * sigma, sigma * sigma + 3 * (Self.scale * fwhm) * (Self.scale * fwhm))
        radius = max(3, Self.reach * fwhm)
    }

    /// - Parameters:
    ///   - pixels: Without background and neighbours, `width` in a row; `noises` are theirs, where they differ.
    ///   - noise: 1 sigma of every pixel otherwise.
    ///   - level: Of the source's own background.
    ///   - x: Of the source's centre among the pixels, counted from 0.
    /// - Returns: the value and its error, both 0 where there is no light that has a width.
    func measure(
        _ pixels: UnsafePointer<Float>, _ noises: UnsafePointer<Float>?, width: Int, height: Int, x: Double, y: Double,
        noise: Double, gain: Double, level: Double = 0
    ) -> (value: Double, error: Double) {
        let columns = max(0, Int(x - radius))..<max(0, min(width, Int(x + radius) + 2))
        let lines = max(0, Int(y - radius))..<max(0, min(height, Int(y + radius) + 2))
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

    /// A Gaussian's light in pixels along an axis.
    private static func profile(_ pixels: Range<Int>, _ centre: Double, _ variance: Double) -> [Double] {
        let scale = 1 / (2 * variance).squareRoot()
        return pixels.map { pixel in
            let low = (Double(pixel) - 0.5 - centre) * scale
            return (erf(low + scale) - erf(low)) / 2
        }
    }

    /// Lets the image's stars have a spread of zero, by their median: no star is quite a Gaussian.
    static func calibrate(_ sources: inout [Source]) {
        // Most catalogues have none, and widths take a while.
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

    /// How far the width of a star may be off, in the logarithm.
    private static let likeStars = 0.1
    private static let fewestStars = 4
}
