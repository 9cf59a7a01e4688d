import Glibc

/// How faint a source a comparison can find, by the stars that it added to a copy of the new image.
///
/// Only *clear* stars count, which are those with no source of either catalogue near. If too few are clear, as in a crowded
/// field, all stars count.
public struct EpochDepth: Hashable, Codable, Sendable {
    /// The stars that were added where both images have pixels, and below, those that were reported.
    public let injected: Int
    public let found: Int
    /// Of the stars that count, those with a signal to noise of at least ten in the new image; below, those of them that were
    /// reported.
    public let bright: Int
    public let brightFound: Int
    /// The total flux, in units of the new image, and the signal to noise there, at which half of the stars are found; `nil` if
    /// it lies outside the range of the stars that were added.
    public let flux: Double?
    public let signalToNoise: Double?

    /// Above this signal to noise, a comparison should miss no new source.
    public static let brightSignalToNoise = 10.0
    /// If a smaller share of the bright stars is found, the comparison is blind.
    private static let blindShare = 0.8
    /// Fewer bright stars do not tell the share.
    private static let enough = 20
    /// Width of a bin of the completeness in magnitudes.
    private static let binWidth = 0.4

    /// The share of the bright stars that were found; `nil` if there are too few to tell.
    public var share: Double? { bright < Self.enough ? nil : Double(brightFound) / Double(bright) }

    /// Whether the comparison misses sources well above the noise.
    public var isBlind: Bool { share.map { $0 < Self.blindShare } ?? false }

    /// - Parameter pair: The match of the images, which tells where the old image's sources are.
    init(_ outcomes: [InjectedChange.Outcome], new: Catalogue, old: Catalogue, pair: EpochPair) {
        injected = outcomes.count
        found = outcomes.count(where: \.isFound)
        let (here, there) = (Self.index(new, pair.newSeeing), Self.index(old, pair.oldSeeing))
        let clear = outcomes.filter { star in
            let place = pair.alignment.old(x: star.x, y: star.y)
            return !here.isNear(star.x, star.y) && !there.isNear(place.x, place.y)
        }
        func bright(_ stars: [InjectedChange.Outcome]) -> [InjectedChange.Outcome] {
            stars.filter { $0.signalToNoise >= Self.brightSignalToNoise }
        }
        let counted = bright(clear).count < Self.enough ? outcomes : clear
        self.bright = bright(counted).count
        brightFound = bright(counted).count(where: \.isFound)
        // Brightness is measured in two ways, because the noise differs from part to part of the image.
        flux = Self.half(counted) { -2.5 * log10($0.flux) }.map { pow(10, -0.4 * $0) }
        signalToNoise = Self.half(counted) { -2.5 * log10($0.signalToNoise) }.map { pow(10, -0.4 * $0) }
    }

    /// The magnitude at which half of the stars are found.
    private static func half(
        _ stars: [InjectedChange.Outcome], _ magnitude: (InjectedChange.Outcome) -> Double
    ) -> Double? {
        let values = stars.map { (magnitude: magnitude($0), isFound: $0.isFound) }.filter { $0.magnitude.isFinite }
        guard let low = values.map(\.magnitude).min(), let high = values.map(\.magnitude).max(), high > low else {
            return nil
        }
        // Bins of equal width, numbered from the brightest.
        let count = min(max(Int(((high - low) / binWidth).rounded()), 1), 100)
        var bins = (0..<count).map { index in
            InjectionReport.Bin(
                low: low + (high - low) * Double(index) / Double(count),
                high: low + (high - low) * Double(index + 1) / Double(count))
        }
        for value in values {
            let bin = min(max(Int((value.magnitude - low) / (high - low) * Double(count)), 0), count - 1)
            bins[bin].stars += 1
            if value.isFound { bins[bin].found += 1 }
        }
        return CompletenessCurve(bins).magnitude(at: 0.5)
    }

    private static func index(_ catalogue: Catalogue, _ seeing: Double) -> Nearby {
        let radius = max(2, seeing)
        var index = NeighbourIndex(cell: radius)
        let places = catalogue.sources.map { CommonFrame.pixel($0) }
        for (number, place) in places.enumerated() { index.add(number, place) }
        return Nearby(places: places, index: index, radius: radius)
    }

    /// The places of a catalogue's sources, counted from 0.
    private struct Nearby {
        let places: [(x: Double, y: Double)]
        let index: NeighbourIndex
        let radius: Double

        func isNear(_ x: Double, _ y: Double) -> Bool {
            index.near((x, y)).contains { number in
                let (dx, dy) = (places[number].x - x, places[number].y - y)
                return dx * dx + dy * dy < radius * radius
            }
        }
    }
}
