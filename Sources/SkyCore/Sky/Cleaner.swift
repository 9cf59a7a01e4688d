/// Finds the pairs of sources of which the brighter takes out the fainter (SExtractor's CLEAN), without comparing
/// each source with each other one.
struct Cleaner {
    private let profiles: [CleanProfile]
    private let positions: [(x: Double, y: Double)]
    private let exponent: Double
    /// The sources by size: the reach of a pair is ten times the sum of their axes, so a few large galaxies must not make
    /// every search a wide one.
    private let classes: [SizeClass]

    private static let classLimits: [Float] = [2, 4, 8, 16, 64, .infinity]

    /// - Parameters:
    ///   - profiles: One for each of `positions`, which count pixels from anywhere.
    ///   - exponent: Of the Moffat profile, `CLEAN_PARAM`.
    init(profiles: [CleanProfile], positions: [(x: Double, y: Double)], exponent: Double) {
        self.profiles = profiles
        self.positions = positions
        self.exponent = exponent
        var members = [[Int]](repeating: [], count: Self.classLimits.count)
        for index in profiles.indices {
            members[Self.classLimits.firstIndex { profiles[index].a < $0 } ?? Self.classLimits.count - 1].append(index)
        }
        classes = members.filter { !$0.isEmpty }.map { members in
            SizeClass(members, largest: members.map { profiles[$0].a }.max() ?? 0, positions: positions)
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
        for sizes in classes {
            let reach = Double(CleanProfile.zone * (profile.a + sizes.largest)) + 1
            guard reach.isFinite else { continue }
            sizes.forEachMember(within: reach, of: place) { weak in
                let dx = Float(place.x - positions[weak].x)
                let dy = Float(place.y - positions[weak].y)
                guard profile.reaches(profiles[weak], dx: dx, dy: dy), isBrighter(strong, weak) else { return }
                if profile.takesOut(profiles[weak], dx: dx, dy: dy, exponent: exponent) { body(strong, weak) }
            }
        }
    }

    /// Brightest first; equals by place, so that the order is the same in every sector.
    private func isBrighter(_ one: Int, _ other: Int) -> Bool {
        (-profiles[one].flux, positions[one].y, positions[one].x, one)
            < (-profiles[other].flux, positions[other].y, positions[other].x, other)
    }
}

/// Sources of like size, in bands of rows and within each by column.
private struct SizeClass {
    /// The largest axis among them.
    let largest: Float
    private let members: [(x: Double, y: Double, index: Int)]
    private let bands: [(number: Int, members: Range<Int>)]
    private let height: Double

    init(_ indices: [Int], largest: Float, positions: [(x: Double, y: Double)]) {
        self.largest = largest
        let reach = Double(CleanProfile.zone * largest)
        // About as high as a search is wide. Axes come from elsewhere, and may be anything.
        let height = reach > 16 && reach < 1e6 ? reach : reach >= 1e6 ? 1e6 : 16
        self.height = height
        let placed = indices.map { index in
            (band: Self.band(positions[index].y, height), place: positions[index], index: index)
        }.sorted { ($0.band, $0.place.x) < ($1.band, $1.place.x) }
        members = placed.map { ($0.place.x, $0.place.y, $0.index) }
        var bands: [(number: Int, members: Range<Int>)] = []
        for (place, member) in placed.enumerated() {
            if let last = bands.last, last.number == member.band {
                bands[bands.count - 1].members = last.members.lowerBound..<place + 1
            } else {
                bands.append((member.band, place..<place + 1))
            }
        }
        self.bands = bands
    }

    /// Calls `body` with those in the square around `place`.
    func forEachMember(within reach: Double, of place: (x: Double, y: Double), _ body: (Int) -> Void) {
        let last = Self.band(place.y + reach, height)
        var band = Self.firstIndex(bands.indices) {
            bands[$0].number >= Self.band(place.y - reach, height)
        }
        while band < bands.count, bands[band].number <= last {
            var next = Self.firstIndex(bands[band].members) { members[$0].x >= place.x - reach }
            while next < bands[band].members.upperBound, members[next].x <= place.x + reach {
                if abs(members[next].y - place.y) <= reach { body(members[next].index) }
                next += 1
            }
            band += 1
        }
    }

    private static func band(_ y: Double, _ height: Double) -> Int {
        y.isFinite ? Int(max(-1e12, min(1e12, (y / height).rounded(.down)))) : 0
    }

    private static func firstIndex(_ range: Range<Int>, where holds: (Int) -> Bool) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
