import Base

/// Finds the sources that two images have in common, and from them how the one image lies over the other.
///
/// If both images have celestial coordinates, it uses these, for any projections; otherwise it uses the pattern of the stars.
/// The difference of the two astrometries is measured with the stars and taken out: as a shift if there are few stars, and as a
/// polynomial of up to the third degree if there are many.
struct EpochMatching {
    /// A source of the new image and one of the old image, by their places in the given lists.
    struct Pair: Hashable {
        var new: Int
        var old: Int
    }

    let pairs: [Pair]
    let alignment: EpochAlignment
    /// How well the stars agree on the alignment.
    let agreement: EpochAgreement

    /// The largest distance of matching sources before the stars have corrected the map, in pixels; below, the range of that
    /// limit afterwards.
    private static let firstRadius = 3.0
    private static let lastRadius = 1.0...2.0
    /// Fewer stars do not give a fit.
    private static let leastStars = 3
    /// The positions of fainter sources are too uncertain to correct others.
    private static let signalToNoise = 10.0

    /// - Parameters:
    ///   - seeing: The width of each image's stars, if it is known.
    ///   - coordinateError: The largest error of coordinates, in arcseconds; `nil` for the usual one.
    /// - Throws: `.badInput` if nothing matches, or if the stars contradict the coordinates.
    init(
        new: [Source], old: [Source], newInfo: ImageInfo, oldInfo: ImageInfo,
        seeing: (new: Seeing?, old: Seeing?) = (nil, nil),
        coordinateError: Double? = nil
    ) throws(SkyError) {
        // The coordinates of only one image say nothing about the other.
        let usesSky = newInfo.hasWCS && oldInfo.hasWCS
        guard let frame = usesSky ? CommonFrame(sky: new, old) : CommonFrame(pixels: new, old) else {
            // The projection has no places for sources that are half a sky away.
            guard usesSky, min(new.count, old.count) >= Self.leastStars, CommonFrame(pixels: new, old) != nil else {
                throw SkyError(
                    .badInput,
                    "too few sources to compare: \(new.count) in the new image, \(old.count) in the reference")
            }
            throw StarField.oppositeParts
        }
        let stars = (new: AlignmentStars(new, seeing: seeing.new), old: AlignmentStars(old, seeing: seeing.old))
        guard min(stars.new.indices.count, stars.old.indices.count) >= Self.leastStars else {
            throw SkyError(
                .badInput,
                "too few sources that can be stars: \(stars.new.indices.count) of \(new.count) in the new image, "
                    + "\(stars.old.indices.count) of \(old.count) in the reference; the others are sharper than stars or saturated"
            )
        }
        var field = StarField(frame, new, old, stars.new.indices, stars.old.indices, newInfo, oldInfo)
        let motion = try field.motion(within: coordinateError)

        let moved = frame.old.map { motion($0) }
        let placed = moved.indices.filter { moved[$0].x.isFinite && moved[$0].y.isFinite }
        guard
            let base = PositionMap(
                from: placed.map { moved[$0] }, to: placed.map { frame.oldPixels[$0] }, degree: frame.degree)
        else { throw StarField.nothingInCommon }

        let trusted = (new: Self.trusted(new), old: Self.trusted(old))
        let places = (new: field.new.map { frame.new[$0] }, old: field.old.map { moved[$0] })
        var correction: PositionMap?
        var radius = Self.firstRadius
        var pairs: [Pair] = []
        var scatter = 0.0
        for _ in 0..<3 {
            pairs = Self.pairs(new: places.new, old: places.old, correction: correction, radius: radius)
                .map { Pair(new: field.new[$0.new], old: field.old[$0.old]) }
            var chosen = pairs.filter { trusted.new[$0.new] && trusted.old[$0.old] }
            if chosen.count < 3 { chosen = pairs }
            guard let fit = Self.fit(chosen, new: frame.new, old: moved) else { throw StarField.nothingInCommon }
            (correction, scatter) = fit
            radius = min(max(6 * scatter, Self.lastRadius.lowerBound), Self.lastRadius.upperBound)
        }
        guard let correction, !pairs.isEmpty else { throw StarField.nothingInCommon }
        self.pairs = pairs
        alignment = EpochAlignment(
            correction: correction, base: base, matches: pairs.count, scatter: scatter, usesSky: usesSky)
        agreement = EpochAgreement(
            pairs: pairs, new: new, old: old, candidates: (field.new, field.old), alignment: alignment,
            sizes: (newInfo, oldInfo), seeing: seeing.new?.fwhm,
            leftOut: stars.new.sharp + stars.old.sharp + field.fixed)
    }

    private static func trusted(_ sources: [Source]) -> [Bool] {
        let spoilt: SourceFlags = [.saturated, .truncated, .deblended]
        return sources.map {
            SourceFlags(rawValue: $0.flags).isDisjoint(with: spoilt)
                && $0.fluxAuto > signalToNoise * $0.fluxErrorAuto
        }
    }

    /// The pairs in which each source is the nearest to the other.
    private static func pairs(
        new: [(x: Double, y: Double)], old: [(x: Double, y: Double)], correction: PositionMap?, radius: Double
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

    /// The map from new to old that fits most pairs, and their scatter about the map along one axis.
    private static func fit(
        _ pairs: [Pair], new: [(x: Double, y: Double)], old: [(x: Double, y: Double)]
    ) -> (PositionMap, Double)? {
        var kept = pairs
        var result: (PositionMap, Double)?
        for _ in 0..<4 {
            let (from, to) = (kept.map { new[$0.new] }, kept.map { old[$0.old] })
            let degree = PositionMap.degree(measured: kept.count)
            let fit = degree > 0 ? PositionMap(from: from, to: to, degree: degree) : nil
            guard let map = fit ?? PositionMap(shiftFrom: from, to: to) else { return result }
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
