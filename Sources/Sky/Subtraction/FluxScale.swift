import Base
import Glibc

/// The flux of a source in the new image, in units of its flux in the old one.
public struct FluxScale: Hashable, Codable, Sendable {
    /// The logarithm of the ratio of fluxes, as a function of the new image's pixels.
    private let logarithm: BivariatePolynomial
    /// The number of stars with which it was measured.
    public let stars: Int
    /// How far bright stars scatter beyond their errors, as a share of their flux (1 sigma). This limits every comparison.
    public let floor: Double

    /// Why the ratio is not reliable, in words.
    package var doubts: [String] {
        var doubts: [String] = []
        if stars < Self.enough { doubts.append("the ratio of fluxes comes from \(stars) stars only") }
        if floor > Self.largestFloor {
            doubts.append(
                "the sources disagree on the ratio of fluxes by \(DecimalText.fixed(100 * floor, 0)) % of it")
        }
        return doubts
    }

    private static let enough = 8
    private static let largestFloor = 0.25

    /// The number of stars from which the ratio may have a slope over the image, and below, a curvature; fewer stars give a
    /// constant.
    private static let forSlope = 60
    private static let forCurvature = 250
    private static let signalToNoise = 20.0

    /// Measures the ratio with the matched pairs that are bright and unspoilt, by a median clipped at three standard
    /// deviations.
    ///
    /// - Throws: `.badInput` if no pair has a flux.
    init(pairs: [EpochMatching.Pair], new: [Source], old: [Source]) throws(SkyError) {
        var stars = Self.stars(pairs, new, old, unspoilt: true)
        if stars.isEmpty { stars = Self.stars(pairs, new, old, unspoilt: false) }
        guard var middle = RobustStatistics.median(stars.map(\.logarithm)) else {
            throw SkyError(.badInput, "no source that both images have is bright enough to compare their fluxes")
        }
        for _ in 0..<4 {
            guard let spread = RobustStatistics.spread(stars.map(\.logarithm)) else { break }
            middle = spread.middle
            let limit = 3 * max(spread.sigma, 1e-6)
            let kept = stars.filter { abs($0.logarithm - middle) <= limit }
            if kept.count == stars.count || kept.isEmpty { break }
            stars = kept
        }
        let degree = stars.count >= Self.forCurvature ? 2 : stars.count >= Self.forSlope ? 1 : 0
        let smooth =
            degree == 0
            ? nil
            : BivariatePolynomial(
                points: stars.map { ($0.x, $0.y) }, values: stars.map(\.logarithm),
                weights: stars.map { 1 / ($0.error * $0.error + 1e-4) }, degree: degree)
        let logarithm = smooth ?? BivariatePolynomial(constant: middle)
        self.logarithm = logarithm
        self.stars = stars.count
        // The scatter is that of the brighter half, whose errors matter less.
        let bright = stars.sorted { $0.error < $1.error }.prefix(max(stars.count / 2, 1))
        let scatter = RobustStatistics.spread(bright.map { $0.logarithm - logarithm.value($0.x, $0.y) })?.sigma ?? 0
        let expected = RobustStatistics.median(bright.map(\.error)) ?? 0
        floor = max(scatter * scatter - expected * expected, 0).squareRoot()
    }

    /// The ratio at a pixel of the new image, counted from 0.
    public func ratio(x: Double, y: Double) -> Double { exp(logarithm.value(x, y)) }

    private typealias Star = (x: Double, y: Double, logarithm: Double, error: Double)

    private static func stars(
        _ pairs: [EpochMatching.Pair], _ new: [Source], _ old: [Source], unspoilt: Bool
    ) -> [Star] {
        pairs.compactMap { pair in
            let (a, b) = (new[pair.new], old[pair.old])
            guard a.fluxAuto > 0, b.fluxAuto > 0, !unspoilt || (a.flags == 0 && b.flags == 0) else { return nil }
            let (first, second) = (a.fluxErrorAuto / a.fluxAuto, b.fluxErrorAuto / b.fluxAuto)
            let error = (first * first + second * second).squareRoot()
            guard error.isFinite, !unspoilt || error * signalToNoise < 1 else { return nil }
            let place = CommonFrame.pixel(a)
            return (place.x, place.y, log(a.fluxAuto / b.fluxAuto), error)
        }
    }
}
