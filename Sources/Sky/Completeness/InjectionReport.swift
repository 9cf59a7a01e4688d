import Glibc

/// How a scan handles stars of known place and flux: how many it finds, and how well it measures them.
///
/// A star is *clear* if the catalogue of the image as it is has no source within `radius` of its place; otherwise it is
/// *blended*. A clear star is found if the catalogue with the stars has a source within that radius. Completeness and errors of
/// fluxes are those of clear stars. A blended star counts as found if there are more sources within the radius than before,
/// because it was separated then. Stars on pixels without a value do not count.
package struct InjectionReport: Sendable {
    /// One star.
    package struct Star: Sendable {
        /// The number of the scan in which the star was, from 1.
        package let round: Int
        package let injected: InjectedStar
        package let magnitude: Double
        package let isBlended: Bool
        /// The source as which the star was found: the nearest one.
        package let match: Source?
    }

    /// The stars of one range of magnitudes.
    package struct Bin: Sendable {
        /// Magnitude from `low`, inclusive.
        package let low: Double
        /// Magnitude up to `high`, exclusive.
        package let high: Double
        /// The number of clear stars.
        package var stars = 0
        /// The number of clear stars that were found.
        package var found = 0
        package var blended = 0
        package var blendedFound = 0
        /// Measured less true magnitude of the clear stars that were found, by `FLUX_AUTO`.
        package var automatic: Errors?
        /// The same for the first aperture.
        package var aperture: Errors?

        /// The share of the clear stars that were found; `nil` if there are none.
        package var completeness: Double? { stars > 0 ? Double(found) / Double(stars) : nil }
        package var interval: WilsonInterval { WilsonInterval(found, of: stars) }
    }

    /// The errors of measured magnitudes.
    package struct Errors: Hashable, Sendable {
        package let median: Double
        /// 1.4826 median absolute deviations, which is a standard deviation that a few outliers do not change.
        package let scatter: Double
    }

    package let stars: [Star]
    /// The bins, from the brightest on.
    package let bins: [Bin]
    /// The largest distance in pixels of a source from a star's place at which the source is that star.
    package let radius: Double
    /// The number of stars that no sector reported, or that lie on pixels without a value.
    package let unseen: Int
    /// Magnitude of one unit of flux.
    package let zeroPoint: Double

    /// The approximate width of a bin in magnitudes.
    private static let width = 0.5
    private static let binCounts = 4.0...24.0

    /// - Parameters:
    ///   - rounds: The catalogues of the image with stars, each with the stars that were added.
    ///   - plain: The catalogue of the image without added stars.
    ///   - zeroPoint: The magnitude of one unit of flux.
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

    /// The magnitude at which the completeness falls below a share, 0 to 1; `nil` if it does not do so in the range.
    package func magnitude(at completeness: Double) -> Double? {
        CompletenessCurve(bins).magnitude(at: completeness)
    }
}

extension InjectionReport.Star {
    /// The measured less the true magnitude, by one of the source's fluxes; `nil` if the flux has no logarithm.
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
