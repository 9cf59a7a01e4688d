/// Finds the pairs of sources of which the brighter takes out the fainter (SExtractor's CLEAN), without comparing
/// each source with each other one.
struct Cleaner {
    private let profiles: [CleanProfile]
    private let positions: [(x: Double, y: Double)]
    private let exponent: Double
    /// The sources by size, each class sorted by y: the reach of a pair is ten times the sum of their axes, so a few
    /// large galaxies must not make every search a wide one.
    private let classes: [(largest: Float, members: [Int])]

    private static let classLimits: [Float] = [2, 4, 8, 16, 64, .infinity]

    /// - Parameters:
    ///   - profiles: One for each of `positions`, which count pixels from anywhere.
    ///   - exponent: Of the Moffat profile, `CLEAN_PARAM`.
    init(profiles: [CleanProfile], positions: [(x: Double, y: Double)], exponent: Double) {
        self.profiles = profiles
        self.positions = positions
        self.exponent = exponent
        var members = [[Int]](repeating: [], count: Self.classLimits.count)
        for index in profiles.indices.sorted(by: { positions[$0].y < positions[$1].y }) {
            members[Self.classLimits.firstIndex { profiles[index].a < $0 } ?? Self.classLimits.count - 1].append(index)
        }
        classes = members.filter { !$0.isEmpty }.map { members in
            (members.map { profiles[$0].a }.max() ?? 0, members)
        }
    }

    /// Calls `body` with each pair of a stronger source and one that it takes out, taken out itself or not.
    func forEachPair(_ body: (_ strong: Int, _ weak: Int) -> Void) {
        for strong in profiles.indices { search(strong, body) }
    }

    /// Which sources are left when those that are taken out no longer take out others.
    func survivors() -> [Bool] {
        var survives = [Bool](repeating: true, count: profiles.count)
        for strong in profiles.indices.sorted(by: isBrighter) where survives[strong] {
            search(strong) { _, weak in survives[weak] = false }
        }
        return survives
    }

    private func search(_ strong: Int, _ body: (Int, Int) -> Void) {
        let profile = profiles[strong]
        let place = positions[strong]
        // A profile that does not fall, or no number, takes out nothing.
        guard profile.slope > 0, profile.amplitude > 0 else { return }
        for (largest, members) in classes {
            let reach = Double(CleanProfile.zone * (profile.a + largest)) + 1
            guard reach.isFinite else { continue }
            var next = firstIndex(members) { positions[$0].y >= place.y - reach }
            while next < members.count, positions[members[next]].y <= place.y + reach {
                let weak = members[next]
                next += 1
                guard abs(positions[weak].x - place.x) <= reach, isBrighter(strong, weak) else { continue }
                let dx = Float(place.x - positions[weak].x)
                let dy = Float(place.y - positions[weak].y)
                if profile.takesOut(profiles[weak], dx: dx, dy: dy, exponent: exponent) { body(strong, weak) }
            }
        }
    }

    /// Brightest first; equals by place, so that the order is the same in every sector.
    private func isBrighter(_ one: Int, _ other: Int) -> Bool {
        (-profiles[one].flux, positions[one].y, positions[one].x, one)
            < (-profiles[other].flux, positions[other].y, positions[other].x, other)
    }

    private func firstIndex(_ members: [Int], where holds: (Int) -> Bool) -> Int {
        var (low, high) = (0, members.count)
        while low < high {
            let middle = (low + high) / 2
            if holds(members[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
