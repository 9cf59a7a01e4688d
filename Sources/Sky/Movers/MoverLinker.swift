/// Joins detections of three or more images to straight tracks of constant rate.
///
/// Two detections in different images tell where the source would be in the others; there the nearest that fits is used. The
/// track with the most points wins, and then the one with the best fit; no detection belongs to two tracks.
package struct MoverLinker {
    /// A detection in a track, by its epoch and its place among that epoch's detections.
    package struct Point: Hashable {
        package var epoch: Int
        package var index: Int
    }

    package struct Track: Hashable {
        var points: [Point]
        /// The rates in units of the frame per unit of time.
        var rateX: Double
        var rateY: Double
        /// The mean square residual in units of the errors.
        var misfit: Double
    }

    /// The times of observation, one for each epoch, in any unit.
    package let times: [Double]
    /// The number of units of the frame in a pixel.
    package let scale: Double
    /// The fastest motion that is searched for, in units of the frame per unit of time.
    let maximumRate: Double

    /// The least motion of a source from its first to its last image, in pixels.
    private static let leastMotion = 3.0
    /// How far a point may lie off the track, in pixels and in errors.
    private static let tolerance = (pixels: 0.4, errors: 3.5, mostPixels: 2.0)
    /// The largest number of detections of an image that are used, the strongest first; below, that of the pairs in all.
    private static let mostDetections = 3000
    private static let mostSeeds = 500_000

    package func tracks(_ epochs: [[MoverDetection]]) -> [Track] {
        guard epochs.count >= 3, epochs.count == times.count, scale > 0, maximumRate > 0 else { return [] }
        let order = epochs.map { list in
            MoverDetection.strongest(list, most: Self.mostDetections)
        }
        let near = epochs.indices.map { epoch in
            var index = NeighbourIndex(cell: Self.tolerance.mostPixels * scale)
            for number in order[epoch] { index.add(number, (epochs[epoch][number].x, epochs[epoch][number].y)) }
            return index
        }
        var found: Set<Track> = []
        var seeds = 0
        for first in epochs.indices {
            for second in epochs.indices where times[second] > times[first] {
                let reach = maximumRate * (times[second] - times[first])
                var wide = NeighbourIndex(cell: reach)
                for number in order[second] { wide.add(number, (epochs[second][number].x, epochs[second][number].y)) }
                for start in order[first] {
                    let a = epochs[first][start]
                    for end in wide.near((a.x, a.y)) {
                        let b = epochs[second][end]
                        let (dx, dy) = (b.x - a.x, b.y - a.y)
                        guard dx * dx + dy * dy <= reach * reach, a.isStrong || b.isStrong, a.agrees(with: b)
                        else { continue }
                        seeds += 1
                        guard seeds <= Self.mostSeeds else { return chosen(found, epochs) }
                        let points = [Point(epoch: first, index: start), Point(epoch: second, index: end)]
                        if let track = extended(points, epochs, near) { found.insert(track) }
                    }
                }
            }
        }
        return chosen(found, epochs)
    }

    /// The track through two points and the points that fit in the other images; `nil` if there are none.
    private func extended(_ seed: [Point], _ epochs: [[MoverDetection]], _ near: [NeighbourIndex]) -> Track? {
        let (a, b) = (epochs[seed[0].epoch][seed[0].index], epochs[seed[1].epoch][seed[1].index])
        let span = times[seed[1].epoch] - times[seed[0].epoch]
        var points = seed
        for epoch in epochs.indices where epoch != seed[0].epoch && epoch != seed[1].epoch {
            let part = (times[epoch] - times[seed[0].epoch]) / span
            let (x, y) = (a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part)
            var best: (index: Int, square: Double)?
            for number in near[epoch].near((x, y)) {
                let other = epochs[epoch][number]
                // The errors of both ends grow with the distance beyond them.
                let error =
                    (other.error * other.error + a.error * a.error * (1 - part) * (1 - part)
                    + b.error * b.error * part * part).squareRoot()
                let limit = min(
                    Self.tolerance.pixels * scale + Self.tolerance.errors * error, Self.tolerance.mostPixels * scale)
                let (dx, dy) = (other.x - x, other.y - y)
                let square = dx * dx + dy * dy
                guard square <= limit * limit, other.agrees(with: a), other.agrees(with: b) else { continue }
                if best.map({ (square, number) < ($0.square, $0.index) }) ?? true { best = (number, square) }
            }
            if let best { points.append(Point(epoch: epoch, index: best.index)) }
        }
        guard points.count >= 3 else { return nil }
        points.sort { (times[$0.epoch], $0.epoch) < (times[$1.epoch], $1.epoch) }
        return fitted(points, epochs)
    }

    /// The straight line through the points by least squares; `nil` if a point lies off the line, or if the source does not
    /// move.
    private func fitted(_ points: [Point], _ epochs: [[MoverDetection]]) -> Track? {
        let seen = points.map { epochs[$0.epoch][$0.index] }
        guard seen.count(where: \.isStrong) >= 2, let start = points.first, let end = points.last else { return nil }
        let mean = points.reduce(0) { $0 + times[$1.epoch] } / Double(points.count)
        let middle = (
            x: seen.reduce(0) { $0 + $1.x } / Double(seen.count), y: seen.reduce(0) { $0 + $1.y } / Double(seen.count)
        )
        var (tt, tx, ty) = (0.0, 0.0, 0.0)
        for (point, detection) in zip(points, seen) {
            let t = times[point.epoch] - mean
            tt += t * t
            tx += t * (detection.x - middle.x)
            ty += t * (detection.y - middle.y)
        }
        guard tt > 0 else { return nil }
        let (rateX, rateY) = (tx / tt, ty / tt)
        var misfit = 0.0
        for (point, detection) in zip(points, seen) {
            let t = times[point.epoch] - mean
            let (dx, dy) = (detection.x - middle.x - rateX * t, detection.y - middle.y - rateY * t)
            let error = detection.error + Self.tolerance.pixels * scale / 3
            misfit += (dx * dx + dy * dy) / (error * error)
        }
        let span = times[end.epoch] - times[start.epoch]
        let way = (rateX * rateX + rateY * rateY).squareRoot() * span
        guard way >= Self.leastMotion * scale, way <= maximumRate * span else { return nil }
        return Track(points: points, rateX: rateX, rateY: rateY, misfit: misfit / Double(2 * points.count - 4))
    }

    /// The best tracks, chosen so that no two share a detection.
    private func chosen(_ tracks: Set<Track>, _ epochs: [[MoverDetection]]) -> [Track] {
        func key(_ track: Track) -> (Int, Double, Double, Double) {
            let start = epochs[track.points[0].epoch][track.points[0].index]
            return (-track.points.count, track.misfit, start.y, start.x)
        }
        var used: Set<Point> = []
        var result: [Track] = []
        for track in tracks.sorted(by: { key($0) < key($1) }) where used.isDisjoint(with: track.points) {
            used.formUnion(track.points)
            result.append(track)
        }
        return result
    }
}
