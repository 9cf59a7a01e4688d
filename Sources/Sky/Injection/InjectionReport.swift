import Glibc

/// What a scan makes of stars of known place and flux: how many it finds, and how well it measures them.
///
/// A star is *clear* where the catalogue of the image as it is has no source within `radius` of its place, else *blended*.
/// A clear star is found where the catalogue with the stars has a source within that radius; completeness and errors of
/// fluxes are those of clear stars. A blended one counts as found where there are more sources within the radius than
/// before: it was told apart. Stars on pixels without a value count nowhere.
package struct InjectionReport: Sendable {
    /// One star.
    package struct Star: Sendable {
        /// Which scan of the image it was in, from 1.
        package let round: Int
        package let injected: InjectedStar
        package let magnitude: Double
        package let isBlended: Bool
        /// The source that it was found as, the nearest.
        package let match: Source?
    }

    /// The stars of one range of magnitudes.
    package struct Bin: Sendable {
        /// Magnitude from `low`, inclusive.
        package let low: Double
        /// Magnitude up to `high`, exclusive.
        package let high: Double
        /// Clear stars.
        package var stars = 0
        /// Those that were found.
        package var found = 0
        package var blended = 0
        package var blendedFound = 0
        /// Measured less true magnitude of the clear stars that were found, by `FLUX_AUTO`.
        package var automatic: Errors?
        /// The same by the first aperture.
        package var aperture: Errors?

        /// Share of the clear stars that was found; `nil` without any.
        package var completeness: Double? { stars > 0 ? Double(found) / Double(stars) : nil }
        package var interval: WilsonInterval { WilsonInterval(found, of: stars) }
    }

    /// How far measured magnitudes are off.
    package struct Errors: Hashable, Sendable {
        package let median: Double
        /// 1.4826 median absolute deviations: the standard deviation, whatever a few outliers do.
        package let scatter: Double
    }

    package let stars: [Star]
    /// From the brightest on.
    package let bins: [Bin]
    /// Farthest that a source may be from a star's place to be that star, in pixels.
    package let radius: Double
    /// Stars that no sector told of, or that lie on pixels without a value.
    package let unseen: Int
    /// Magnitude of one unit of flux.
    package let zeroPoint: Double

    /// Width of a bin in magnitudes, about.
    private static let width = 0.5
    private static let binCounts = 4.0...24.0

    /// - Parameters:
    ///   - rounds: the catalogues of the image with stars, each with what was put in.
    ///   - plain: its catalogue without.
    ///   - zeroPoint: magnitude of one unit of flux.
    package init(_ rounds: [(injection: Injection, catalogue: Catalogue)], plain: Catalogue, zeroPoint: Double) {
        let (zero, radius) = (zeroPoint, max(2, rounds.first?.injection.fwhm ?? 0))
        (self.zeroPoint, self.radius) = (zero, radius)
        let before = SourcesNearby(plain.sources, radius)
        stars = rounds.enumerated().flatMap { round, scan in
            let now = SourcesNearby(scan.catalogue.sources, radius)
            let injected = (scan.catalogue.injected ?? []).filter { $0.flux > 0 && $0.x.isFinite && $0.y.isFinite }
            return injected.map { star in
                let (found, known) = (now.near(star.x, star.y), before.near(star.x, star.y))
                return Star(
                    round: round + 1, injected: star, magnitude: zero - 2.5 * log10(star.flux),
                    isBlended: !known.isEmpty,
                    match: found.count > known.count && !star.isMasked ? found.first : nil)
            }
        }
        unseen = rounds.reduce(0) { $0 + $1.injection.count } - stars.count { !$0.injected.isMasked }
        bins = Self.bins(
            of: stars.filter { !$0.injected.isMasked }, brightest: rounds.map(\.injection.brightest).max() ?? 1,
            faintest: rounds.map(\.injection.faintest).min() ?? 1, zeroPoint)
    }

    private static func bins(
        of stars: [Star], brightest flux: Double, faintest: Double, _ zeroPoint: Double
    ) -> [Bin] {
        let brightest = zeroPoint - 2.5 * log10(flux)
        let range = zeroPoint - 2.5 * log10(faintest) - brightest
        let count = range > 0 ? min(max((range / width).rounded(), binCounts.lowerBound), binCounts.upperBound) : 1
        let step = range / count
        let groups = Dictionary(grouping: stars) { star in
            range > 0 ? min(max(((star.magnitude - brightest) / step).rounded(.down), 0), count - 1) : 0
        }
        return (0..<Int(count)).map { index in
            let low = brightest + Double(index) * step
            return Bin(low: low, high: low + step, groups[Double(index)] ?? [], zeroPoint: zeroPoint)
        }
    }

    /// The magnitude at which the completeness falls below a share, 0 to 1; `nil` where it does not do so in the range.
    package func magnitude(at completeness: Double) -> Double? {
        CompletenessCurve(bins).magnitude(at: completeness)
    }
}

extension InjectionReport.Star {
    /// Measured less true magnitude by one of the source's fluxes; `nil` where that has no logarithm.
    package func error(_ flux: KeyPath<Source, Double?>, zeroPoint: Double) -> Double? {
        guard let measured = match?[keyPath: flux], measured > 0, measured.isFinite else { return nil }
        return zeroPoint - 2.5 * log10(measured) - magnitude
    }
}

extension InjectionReport.Bin {
    fileprivate init(low: Double, high: Double, _ stars: [InjectionReport.Star], zeroPoint: Double) {
        (self.low, self.high) = (low, high)
        let clear = stars.filter { !$0.isBlended }
        self.stars = clear.count
        found = clear.count { $0.match != nil }
        blended = stars.count - clear.count
        blendedFound = stars.count { $0.isBlended && $0.match != nil }
        func errors(_ flux: KeyPath<Source, Double?>) -> InjectionReport.Errors? {
            RobustStatistics.spread(clear.compactMap { $0.error(flux, zeroPoint: zeroPoint) })
                .map { InjectionReport.Errors(median: $0.middle, scatter: $0.sigma) }
        }
        automatic = errors(\.automatic)
        aperture = errors(\.firstAperture)
    }
}

extension Source {
    fileprivate var automatic: Double? { fluxAuto }
    fileprivate var firstAperture: Double? { fluxesAperture.first }
}
