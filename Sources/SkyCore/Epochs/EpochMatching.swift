/// Finds the sources that two images have in common, and from them where the one lies over the other.
///
/// By the sky where both have coordinates, whatever their projections are; else by the pattern that the stars make. What the
/// two astrometries differ by is measured with the stars and taken out: a shift where there are few of them, a
/// polynomial of up to the third degree where there are many.
struct EpochMatching {
    /// A source of the new image and one of the old, by their places in the lists that were given.
    struct Pair: Hashable {
        var new: Int
        var old: Int
    }

    let pairs: [Pair]
    let alignment: EpochAlignment

    /// How far matching sources may lie apart before the stars have corrected that, in pixels.
    private static let firstRadius = 3.0
    private static let lastRadius = 1.0...2.0
    /// Positions of fainter sources are too uncertain to correct others by.
    private static let signalToNoise = 10.0

    /// - Throws: `.badInput` where only one has coordinates, or where nothing matches.
    init(new: [Source], old: [Source], newInfo: ImageInfo, oldInfo: ImageInfo) throws(SkyError) {
        guard newInfo.hasWCS == oldInfo.hasWCS else {
            throw SkyError(
                .badInput,
                "the \(newInfo.hasWCS ? "reference" : "new") image has no celestial coordinates and the other has;"
                    + " solve both or compare two without")
        }
        let frame = newInfo.hasWCS ? CommonFrame(sky: new, old) : CommonFrame(pixels: new, old)
        guard let frame else {
            throw SkyError(
                .badInput, "too few sources to compare: \(new.count) in the new image, \(old.count) in the reference")
        }
        let brightNew = Self.brightest(new)
        let brightOld = Self.brightest(old)
        let pattern = StarPattern(old: brightOld.map { frame.old[$0] }, new: brightNew.map { frame.new[$0] })
        guard let motion = pattern.motion() else { throw Self.nothingInCommon }
        let moved = frame.old.map { motion($0) }
        let placed = moved.indices.filter { moved[$0].x.isFinite && moved[$0].y.isFinite }
        guard
            let base = PlaneMap(
                from: placed.map { moved[$0] }, to: placed.map { frame.oldPixels[$0] }, degree: frame.degree)
        else { throw Self.nothingInCommon }

        let trusted = (new: Self.trusted(new), old: Self.trusted(old))
        var correction: PlaneMap?
        var radius = Self.firstRadius
        var pairs: [Pair] = []
        var scatter = 0.0
        for _ in 0..<3 {
            pairs = Self.pairs(new: frame.new, old: moved, correction: correction, radius: radius)
            var chosen = pairs.filter { trusted.new[$0.new] && trusted.old[$0.old] }
            if chosen.count < 3 { chosen = pairs }
            guard let fit = Self.fit(chosen, new: frame.new, old: moved) else { throw Self.nothingInCommon }
            (correction, scatter) = fit
            radius = min(max(6 * scatter, Self.lastRadius.lowerBound), Self.lastRadius.upperBound)
        }
        guard let correction, !pairs.isEmpty else { throw Self.nothingInCommon }
        self.pairs = pairs
        alignment = EpochAlignment(
            correction: correction, base: base, matches: pairs.count, scatter: scatter, usesSky: newInfo.hasWCS)
    }

    private static let nothingInCommon = SkyError(
        .badInput, "the two images have no stars in common; do they show the same part of the sky?")

    /// Places in the list of the brightest sources, brightest first.
    private static func brightest(_ sources: [Source]) -> [Int] {
        Array(sources.indices.sorted { (-sources[$0].fluxAuto, $0) < (-sources[$1].fluxAuto, $1) }.prefix(400))
    }

    private static func trusted(_ sources: [Source]) -> [Bool] {
        let spoilt: SourceFlags = [.saturated, .truncated, .deblended]
        return sources.map {
            SourceFlags(rawValue: $0.flags).isDisjoint(with: spoilt)
                && $0.fluxAuto > signalToNoise * $0.fluxErrorAuto
        }
    }

    /// The pairs of which each is the nearest to the other.
    private static func pairs(
        new: [(x: Double, y: Double)], old: [(x: Double, y: Double)], correction: PlaneMap?, radius: Double
    ) -> [Pair] {
        let corrected = new.map { correction?($0) ?? $0 }
        let news = PositionIndex(corrected.map { ($0.x, $0.y) }, cell: radius)
        let olds = PositionIndex(old.map { ($0.x, $0.y) }, cell: radius)
        return corrected.indices.compactMap { index in
            guard let match = olds.nearest(x: corrected[index].x, y: corrected[index].y, where: { _ in true }),
                let back = news.nearest(x: old[match.index].x, y: old[match.index].y, where: { _ in true }),
                back.index == index
            else { return nil }
            return Pair(new: index, old: match.index)
        }
    }

    /// The map from new to old that fits most pairs, and their scatter about it along one axis.
    private static func fit(
        _ pairs: [Pair], new: [(x: Double, y: Double)], old: [(x: Double, y: Double)]
    ) -> (PlaneMap, Double)? {
        var kept = pairs
        var result: (PlaneMap, Double)?
        for _ in 0..<4 {
            let (from, to) = (kept.map { new[$0.new] }, kept.map { old[$0.old] })
            let degree = PlaneMap.degree(measured: kept.count)
            let fit = degree > 0 ? PlaneMap(from: from, to: to, degree: degree) : nil
            guard let map = fit ?? PlaneMap(shiftFrom: from, to: to) else { return result }
            let offsets = pairs.map { pair -> (x: Double, y: Double) in
                let place = map(new[pair.new])
                return (place.x - old[pair.old].x, place.y - old[pair.old].y)
            }
            let deviations = offsets.flatMap { [abs($0.x), abs($0.y)] }
            let sigma = max(
                (RobustStatistics.median(deviations) ?? 0) * RobustStatistics.sigmasPerDeviation, 1e-3)
            result = (map, sigma)
            let limit = 4 * sigma
            kept = pairs.indices.filter { abs(offsets[$0].x) < limit && abs(offsets[$0].y) < limit }.map { pairs[$0] }
        }
        return result
    }
}
