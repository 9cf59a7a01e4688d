import Glibc

/// How well the stars of two images agree on how the one lies over the other.
public struct EpochAgreement: Hashable, Codable, Sendable {
    /// The number of bright stars in the common part that have a partner in the other image; below, the numbers of those in
    /// each image that have none.
    public let matched: Int
    public let unmatchedNew: Int
    public let unmatchedOld: Int
    /// The number of sources that were not used: they are sharper than stars, or at the same pixel in both images while the
    /// stars are not.
    public let leftOut: Int
    /// Why the alignment is not reliable, in words; empty if there is no reason for doubt.
    public let doubts: [String]

    private static let signalToNoise = 20.0
    /// The least share of stars that must have a partner, of the stars of the image that has fewer.
    private static let leastShare = 0.5
    /// The number of stars from which a scatter, or a corner, can be judged.
    private static let enough = 8
    /// The best accuracy of centroids, as a share of what their light allows. Two images whose stars agree better have the same
    /// noise.
    private static let smallestScatter = 0.1
    /// The largest offset of a quarter of the image, in pixels.
    private static let largestOffset = 0.5

    init(
        pairs: [EpochMatching.Pair], new: [Source], old: [Source], candidates: (new: [Int], old: [Int]),
        alignment: EpochAlignment, sizes: (new: ImageInfo, old: ImageInfo), seeing: Double?,
        leftOut: Int
    ) {
        self.leftOut = leftOut
        func isBright(_ source: Source) -> Bool {
            source.flags & SourceFlags.truncated.rawValue == 0
                && source.fluxAuto > Self.signalToNoise * source.fluxErrorAuto
        }
        let bright = pairs.filter { isBright(new[$0.new]) && isBright(old[$0.old]) }
        let outlines = Self.outlines(alignment, sizes)
        let newInside = candidates.new.count { isBright(new[$0]) && outlines.isInside(new: CommonFrame.pixel(new[$0])) }
        let oldInside = candidates.old.count { isBright(old[$0]) && outlines.isInside(old: CommonFrame.pixel(old[$0])) }
        matched = bright.count
        unmatchedNew = max(newInside - matched, 0)
        unmatchedOld = max(oldInside - matched, 0)
        var doubts: [String] = []
        let possible = min(newInside, oldInside)
        if Double(matched) < Self.leastShare * Double(possible) {
            doubts.append("only \(matched) of \(possible) bright stars have a partner")
        }
        let offsets = bright.map { pair -> (x: Double, y: Double, dx: Double, dy: Double, error: Double) in
            let (a, b) = (CommonFrame.pixel(new[pair.new]), CommonFrame.pixel(old[pair.old]))
            let place = alignment.old(x: a.x, y: a.y)
            let errors = [new[pair.new], old[pair.old]].map { source in
                (seeing ?? source.fwhm) / Gaussian.fwhm * source.fluxErrorAuto / source.fluxAuto
            }
            return (a.x, a.y, place.x - b.x, place.y - b.y, hypot(errors[0], errors[1]))
        }
        let deviation = RobustStatistics.median(offsets.flatMap { [abs($0.dx), abs($0.dy)] }) ?? 0
        let scatter = deviation * RobustStatistics.sigmasPerDeviation
        if offsets.count >= Self.enough, let error = RobustStatistics.median(offsets.map(\.error)),
            scatter < Self.smallestScatter * error
        {
            doubts.append(
                "the sources agree to \(DecimalText.fixed(scatter, 4)) pixel, better than stars of this brightness can:"
                    + " the images are copies of one, or these are no stars")
        }
        doubts += Self.corners(offsets.map { ($0.x, $0.y, $0.dx, $0.dy) }, sizes.new)
        self.doubts = doubts
    }

    /// The quarters of the image in which the stars do not lie where the alignment puts them, in words.
    private static func corners(_ offsets: [(x: Double, y: Double, dx: Double, dy: Double)], _ info: ImageInfo)
        -> [String]
    {
        let (x, y) = (Double(info.width) / 2, Double(info.height) / 2)
        var words: [String] = []
        for (name, isThere) in [
            ("lower left", { $0.x < x && $0.y < y }), ("lower right", { $0.x >= x && $0.y < y }),
            ("upper left", { $0.x < x && $0.y >= y }), ("upper right", { $0.x >= x && $0.y >= y }),
        ] as [(String, ((x: Double, y: Double, dx: Double, dy: Double)) -> Bool)] {
            let own = offsets.filter(isThere)
            guard own.count >= enough, let dx = RobustStatistics.median(own.map(\.dx)),
                let dy = RobustStatistics.median(own.map(\.dy)), hypot(dx, dy) > largestOffset
            else { continue }
            words.append("the stars in the \(name) quarter are \(DecimalText.fixed(hypot(dx, dy), 2)) pixels off")
        }
        return words
    }

    private struct Outlines {
        let alignment: EpochAlignment
        let sizes: (new: ImageInfo, old: ImageInfo)
        /// The map from the old image's pixels to the new one's; it is only needed roughly.
        let inverse: PositionMap?

        func isInside(new place: (x: Double, y: Double)) -> Bool {
            let there = alignment.old(x: place.x, y: place.y)
            return there.x >= 0 && there.y >= 0 && there.x < Double(sizes.old.width)
                && there.y < Double(sizes.old.height)
        }

        func isInside(old place: (x: Double, y: Double)) -> Bool {
            guard let here = inverse?(place) else { return true }
            return here.x >= 0 && here.y >= 0 && here.x < Double(sizes.new.width) && here.y < Double(sizes.new.height)
        }
    }

    private static func outlines(_ alignment: EpochAlignment, _ sizes: (new: ImageInfo, old: ImageInfo)) -> Outlines {
        let steps = (0...4).map { Double($0) / 4 }
        let grid = steps.flatMap { y in
            steps.map { x in (x: x * Double(sizes.new.width - 1), y: y * Double(sizes.new.height - 1)) }
        }
        let images = grid.map { alignment.old(x: $0.x, y: $0.y) }
        return Outlines(
            alignment: alignment, sizes: sizes, inverse: PositionMap(from: images, to: grid, degree: 2))
    }
}
