/// The differences between two images of the same sky.
public struct EpochComparison: Hashable, Codable, Sendable {
    /// The changes, from the new image's first row up.
    public var changes: [EpochChange]
    /// Weaker differences. They are not a result by themselves, but may complete a moving source's track.
    package var faint: [DifferenceCandidate]
    /// How the images fit: below are the number of common sources, their scatter in pixels, the ratio of new to old flux, and
    /// the scatter of bright stars.
    public var matches: Int
    public var scatter: Double
    public var ratio: Double
    public var fluxFloor: Double
    /// How well the stars agree on how the images lie on each other.
    public var agreement: EpochAgreement
    /// The widths of the stars.
    public var newStars: Seeing
    public var oldStars: Seeing
    /// Why the comparison is not reliable, in words; empty if there is no reason for doubt.
    public var doubts: [String]
    /// Whether the celestial coordinates were used; without them, angles and rates are in pixels.
    public var usesSky: Bool
    /// Share of the new image that the old one covers.
    public var coverage: Double
    /// How faint a source the comparison can find; `nil` if no stars were injected.
    public var depth: EpochDepth?
    /// Differences that were refused, by reason.
    public var refused: RefusalCounts
    /// The number of differences beyond those that a sector may list. If it is above zero, something is wrong with the images.
    public var omitted: Int
    /// The places of the old image's pixels in the sky.
    package let reference: ReferenceFrame

    /// Merges the sectors' results, in any order; a second result for a sector is left out.
    ///
    /// - Parameters:
    ///   - new: The catalogue of the new image; `old` is that of the reference.
    ///   - settings: The settings of the sectors' scans.
    public init(
        merging results: [DifferenceResult], pair: EpochPair, new: Catalogue, old: Catalogue,
        settings: DifferenceSettings? = nil
    ) {
        let settings = settings ?? DifferenceSettings(new.info)
        var seen: Set<Int> = []
        let results = results.sorted { $0.sector < $1.sector }.filter { seen.insert($0.sector).inserted }
        let all = Self.withoutRepeats(results.flatMap(\.candidates), radius: pair.newSeeing / 2)
        let isInLine = DetectorLines(all, new: new.info, old: old.info).isInLine
        let candidates = all.indices.filter { !isInLine[$0] }.map { all[$0] }
        let classifier = ChangeClassifier(new: new, old: old, pair: pair)
        changes = candidates.filter(settings.reports).map(classifier.change)
            .sorted { ($0.y, $0.x, $0.significance) < ($1.y, $1.x, $1.significance) }
        faint = candidates.filter { !settings.reports($0) }
        (matches, scatter, usesSky) = (pair.alignment.matches, pair.alignment.scatter, pair.alignment.usesSky)
        ratio = pair.scale.ratio(x: Double(new.info.width) / 2, y: Double(new.info.height) / 2)
        fluxFloor = pair.scale.floor
        (agreement, doubts) = (pair.agreement, pair.doubts)
        (newStars, oldStars) = (pair.newStars, pair.oldStars)
        let pixels = results.reduce(0) { $0 &+ $1.corePixels }
        coverage = pixels > 0 ? Double(results.reduce(0) { $0 &+ $1.comparedPixels }) / Double(pixels) : 0
        depth =
            pair.injected.isEmpty
            ? nil : EpochDepth(results.flatMap(\.injected), new: new, old: old, pair: pair)
        omitted = results.reduce(0) { $0 &+ $1.omitted }
        refused = results.reduce(into: RefusalCounts()) { $0.add($1.refused) }
        refused[.line] = isInLine.count { $0 }
        reference = ReferenceFrame(old)
    }

    /// Keeps the strongest of equal candidates. There are equal ones because sectors search a little beyond their borders.
    private static func withoutRepeats(_ candidates: [DifferenceCandidate], radius: Double) -> [DifferenceCandidate] {
        let sorted = candidates.filter { $0.x.isFinite && $0.y.isFinite && $0.significance.isFinite }.sorted {
            (-abs($0.significance), $0.y, $0.x) < (-abs($1.significance), $1.y, $1.x)
        }
        var index = NeighbourIndex(cell: max(radius, 1))
        var kept: [DifferenceCandidate] = []
        for candidate in sorted {
            let isRepeat = index.near((candidate.x, candidate.y)).contains { number in
                let (dx, dy) = (kept[number].x - candidate.x, kept[number].y - candidate.y)
                return dx * dx + dy * dy < radius * radius && kept[number].significance * candidate.significance > 0
            }
            if isRepeat { continue }
            index.add(kept.count, (candidate.x, candidate.y))
            kept.append(candidate)
        }
        return kept
    }
}
