/// Comparisons of one or more images with the same reference, and the sources that move through them.
public struct EpochSeries: Hashable, Codable, Sendable {
    /// One comparison for each image but the reference; the moved sources of each are marked as such.
    public private(set) var comparisons: [EpochComparison]
    /// Moving sources of three or more images, numbered from 1 in this order.
    public private(set) var tracks: [MoverTrack]
    /// Whether rates are per hour. Otherwise the times were not known, and rates are per interval between two images.
    public let hasTimes: Bool

    /// The fastest motion that is searched for, in pixels between two consecutive images. Faster sources are elongated, and
    /// there would be many chance pairs.
    private static let reach = 150.0
    /// The same limit if there are only two images.
    private static let reachOfPairs = 100.0

    /// Links the sources that appeared and vanished.
    ///
    /// - Parameters:
    ///   - comparisons: The comparisons, all with the same reference; their order is kept.
    ///   - times: The times of the reference and of each comparison's image, in seconds from any start. Equal intervals are
    ///     assumed if one is missing or two are the same.
    public init(_ comparisons: [EpochComparison], times: [Double?] = []) {
        self.comparisons = comparisons
        tracks = []
        let known = times.compactMap { $0 }.filter(\.isFinite).map { $0 / 3600 }
        hasTimes = known.count == comparisons.count + 1 && times.count == known.count && Set(known).count == known.count
        guard let first = comparisons.first else { return }
        let hours = hasTimes ? known : (0...comparisons.count).map(Double.init)
        let reference = first.reference
        let sets = DetectionSets(comparisons, reference: reference)
        var free = sets
        if comparisons.count >= 2 {
            let linker = MoverLinker(
                times: hours, scale: reference.scale, maximumRate: Self.reach * reference.scale / Self.interval(hours))
            for track in linker.tracks(sets.epochs) { mark(track, sets, hours, &free) }
        }
        let interval = Self.interval(hours)
        for number in comparisons.indices {
            let elapsed = hours[number + 1] - hours[0]
            let reach = Self.reachOfPairs * reference.scale * max(abs(elapsed) / interval, 1)
            for pair in MoverPairs(free, epoch: number + 1, reach: reach, scale: reference.scale).pairs {
                join(pair.new, pair.old, in: number, sets, elapsed: elapsed)
            }
        }
        for number in self.comparisons.indices { self.comparisons[number].removeJoined() }
    }

    /// The shortest time between two images.
    private static func interval(_ hours: [Double]) -> Double {
        let sorted = hours.sorted()
        return zip(sorted, sorted.dropFirst()).map { $1 - $0 }.min() ?? 1
    }

    private mutating func mark(
        _ track: MoverLinker.Track, _ sets: DetectionSets, _ hours: [Double], _ free: inout DetectionSets
    ) {
        let number = tracks.count + 1
        let rate = (track.rateX * track.rateX + track.rateY * track.rateY).squareRoot()
        let angle = ReferenceFrame.positionAngle(dx: track.rateX, dy: track.rateY)
        let seen = track.points.map { sets.epochs[$0.epoch][$0.index] }
        let weights = seen.map { 1 / ($0.fluxError * $0.fluxError) }
        let weight = weights.reduce(0, +)
        let flux = zip(seen, weights).reduce(0) { $0 + $1.0.flux * $1.1 } / weight
        tracks.append(
            MoverTrack(
                number: number, rate: rate, positionAngle: angle, epochs: track.points.map(\.epoch), flux: flux,
                fluxError: (1 / weight).squareRoot(), misfit: track.misfit))
        let start = track.points.first { $0.epoch == 0 }
        for comparison in comparisons.indices {
            let end = track.points.first { $0.epoch == comparison + 1 }
            let appeared = end.flatMap { sets.rows[$0.epoch][$0.index][comparison] }
            let vanished = start.flatMap { sets.rows[0][$0.index][comparison] }
            comparisons[comparison].mark(appeared, vanished, rate: rate, angle: angle, track: number)
        }
        for point in track.points { free.epochs[point.epoch][point.index].x = .nan }
    }

    private mutating func join(
        _ new: Int, _ old: Int, in comparison: Int, _ sets: DetectionSets, elapsed: Double
    ) {
        guard let appeared = sets.rows[comparison + 1][new][comparison],
            let vanished = sets.rows[0][old][comparison], elapsed != 0
        else { return }
        let (a, b) = (sets.epochs[0][old], sets.epochs[comparison + 1][new])
        let (dx, dy) = ((b.x - a.x) / elapsed, (b.y - a.y) / elapsed)
        comparisons[comparison].mark(
            appeared, vanished, rate: (dx * dx + dy * dy).squareRoot(),
            angle: ReferenceFrame.positionAngle(dx: dx, dy: dy), track: nil)
    }
}
