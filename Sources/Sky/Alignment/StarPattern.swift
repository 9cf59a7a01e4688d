import Glibc

/// Finds how one set of stars lies over another if little or nothing is known. It tries shifts on which most pairs of stars
/// agree, and then pairs of stars at equal distances, which also give the rotation. (This follows Groth 1986, AJ 91, 1244, with
/// pairs in the place of triangles: two exposures by one camera have the same scale.)
struct StarPattern {
    private let old: [(x: Double, y: Double)]
    private let new: [(x: Double, y: Double)]
    private let index: PositionIndex

    /// The distance within which a star counts as found, in pixels.
    private static let tolerance = 3.0
    /// The number of stars of each image that are used; below, the number of those whose pairs are used.
    private static let most = 200
    private static let mostPaired = 40
    /// Closer pairs tell little about a direction.
    private static let shortestPair = 30.0
    /// The largest number of rotations and shifts that are tried.
    private static let mostTrials = 20_000

    /// How far a motion may move the corners of the new image, in pixels, and the places of these corners.
    struct Limit {
        var pixels: Double
        var corners: [(x: Double, y: Double)]
    }

    private let limit: Limit?

    /// - Parameters:
    ///   - old: The positions in pixels, the brightest first; the same for `new`.
    ///   - limit: The limit of the motions that are possible; `nil` for any motion.
    init(old: [(x: Double, y: Double)], new: [(x: Double, y: Double)], limit: Limit? = nil) {
        self.limit = limit
        self.old = Array(old.prefix(Self.most))
        self.new = Array(new.prefix(Self.most))
        index = PositionIndex(self.new.map { ($0.x, $0.y) }, cell: Self.tolerance)
    }

    /// The motion that takes the old stars to the new ones, and the number of stars that agree on it; `nil` if not enough stars
    /// agree on any motion.
    func motion() -> (motion: RigidMotion, count: Int)? {
        let possible = min(old.count, new.count)
        guard possible > 0 else { return nil }
        let standing = agreement(.identity, among: old)
        // Most stars are where they should be, or there are too few to contradict.
        if standing * 10 >= possible * 3 || (possible < 6 && standing > 0) { return (.identity, standing) }
        var best = (motion: RigidMotion.identity, count: standing)
        for shift in shifts() where isPossible(shift) {
            let count = agreement(shift, among: old)
            if count > best.count { best = (shift, count) }
        }
        if !isConvincing(best.count), let turned = turn(), turned.count > best.count { best = turned }
        return isConvincing(best.count) ? best : nil
    }

    private func isPossible(_ motion: RigidMotion) -> Bool {
        guard let limit else { return true }
        return limit.corners.allSatisfy { corner in
            let place = motion(corner)
            return hypot(place.x - corner.x, place.y - corner.y) <= limit.pixels
        }
    }

    private func isConvincing(_ count: Int) -> Bool {
        count >= 4 && count * 5 >= min(old.count, new.count)
    }

    private func agreement(_ motion: RigidMotion, among stars: [(x: Double, y: Double)]) -> Int {
        stars.count { star in
            let place = motion(star)
            return index.nearest(x: place.x, y: place.y) { _ in true } != nil
        }
    }

    /// The shifts that most pairs of stars have in common.
    private func shifts() -> [RigidMotion] {
        struct Cell: Hashable {
            var column: Int
            var row: Int
        }
        var votes: [Cell: (count: Int, dx: Double, dy: Double)] = [:]
        let cell = 2 * Self.tolerance
        for from in old.prefix(100) {
            for to in new.prefix(100) {
                let (dx, dy) = (to.x - from.x, to.y - from.y)
                guard abs(dx) < 1e7, abs(dy) < 1e7, hypot(dx, dy) <= limit?.pixels ?? .infinity else { continue }
                let place = Cell(column: Int((dx / cell).rounded()), row: Int((dy / cell).rounded()))
                let vote = votes[place] ?? (0, 0, 0)
                votes[place] = (vote.count + 1, vote.dx + dx, vote.dy + dy)
            }
        }
        let leading = votes.sorted {
            ($1.value.count, $0.key.row, $0.key.column) < ($0.value.count, $1.key.row, $1.key.column)
        }
        return leading.prefix(8).map {
            RigidMotion(dx: $0.value.dx / Double($0.value.count), dy: $0.value.dy / Double($0.value.count))
        }
    }

    private struct Pair {
        var first: Int
        var second: Int
        var length: Double
    }

    private static func pairs(_ stars: ArraySlice<(x: Double, y: Double)>) -> [Pair] {
        var pairs: [Pair] = []
        for first in stars.indices {
            for second in stars.indices where second > first {
                let (dx, dy) = (stars[second].x - stars[first].x, stars[second].y - stars[first].y)
                let length = (dx * dx + dy * dy).squareRoot()
                if length > shortestPair { pairs.append(Pair(first: first, second: second, length: length)) }
            }
        }
        return pairs.sorted { ($0.length, $0.first, $0.second) < ($1.length, $1.first, $1.second) }
    }

    /// The rotation and shift on which most of the brightest stars agree.
    private func turn() -> (motion: RigidMotion, count: Int)? {
        let (some, others) = (Self.pairs(old.prefix(Self.mostPaired)), Self.pairs(new.prefix(Self.mostPaired)))
        var best: (motion: RigidMotion, count: Int)?
        var trials = 0
        var start = 0
        for pair in some {
            while start < others.count, others[start].length < pair.length - 1.5 { start += 1 }
            var next = start
            while next < others.count, others[next].length <= pair.length + 1.5, trials < Self.mostTrials {
                let other = others[next]
                next += 1
                for (c, d) in [(other.first, other.second), (other.second, other.first)] {
                    trials += 1
                    guard
                        let motion = RigidMotion(
                            a: old[pair.first], b: old[pair.second], c: new[c], d: new[d])
                    else { continue }
                    guard isPossible(motion) else { continue }
                    // A test of only the brightest comes first, because nearly all trials end here.
                    guard agreement(motion, among: Array(old.prefix(12))) >= 4 else { continue }
                    let count = agreement(motion, among: old)
                    if count > best?.count ?? 0 { best = (motion, count) }
                }
            }
        }
        return best
    }
}
