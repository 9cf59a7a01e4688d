/// SExtractor's CLEAN: it takes out sources that are only bumps on the wings of a brighter one, without a comparison of each
/// source with each other one.
struct Cleaner {
    private var profiles: [CleanProfile]
    private let positions: [(x: Double, y: Double)]
    private let exponent: Double
    /// The sources in classes by size. The reach of a pair is ten times the sum of their axes, so without classes a few large
    /// galaxies would make every search a wide one.
    private let classes: [SizeClass]

    private static let classLimits: [Float] = [2, 4, 8, 16, 64, .infinity]

    /// - Parameters:
    ///   - profiles: One profile for each of `positions`, which may count pixels from any origin.
    ///   - exponent: The exponent of the Moffat profile, `CLEAN_PARAM`.
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

    /// Calls `body` with each pair of a stronger source and a weaker one that it takes out, as both are at first. The strong
    /// source may be taken out itself.
    func forEachPair(_ body: (_ strong: Int, _ weak: Int) -> Void) {
        for strong in profiles.indices {
            let wings = CleanProfile.Wings(profiles[strong], exponent: exponent)
            guard wings.exist else { continue }
            forEachNeighbour(of: strong) { weak, dx, dy in
                if isBrighter(strong, weak), wings.takeOut(profiles[weak], dx: dx, dy: dy) { body(strong, weak) }
            }
        }
    }

    /// Judges one source after the other, in the order in which their footprints end, as SExtractor does. A newcomer is
    /// compared with the survivors of the sources before it. The first survivor in their list that is at least as bright and
    /// can take it out does so. Otherwise the newcomer takes out all fainter ones that it can. A source that takes out another
    /// one gets its light, and can take out more.
    ///
    /// - Parameter merge: Called when a source is taken out by another one, in order.
    /// - Returns: Whether each source is left.
    func survivors(_ merge: (_ victim: Int, _ master: Int) -> Void = { _, _ in }) -> [Bool] {
        var profiles = profiles
        var wings = profiles.map { CleanProfile.Wings($0, exponent: exponent) }
        // This is SExtractor's list, in which the last source takes the place of one that is removed. The order decides which
        // of several sources is the first.
        var list: [Int] = []
        var places = [Int?](repeating: nil, count: profiles.count)
        func take(_ victim: Int, into master: Int) {
            profiles[master].takeIn(profiles[victim])
            wings[master] = CleanProfile.Wings(profiles[master], exponent: exponent)
            merge(victim, master)
        }
        var met: [(place: Int, index: Int, dx: Float, dy: Float)] = []
        for newcomer in profiles.indices.sorted(by: comesBefore) {
            met.removeAll(keepingCapacity: true)
            forEachNeighbour(of: newcomer) { other, dx, dy in
                if let place = places[other] { met.append((place, other, dx, dy)) }
            }
            met.sort { $0.place < $1.place }
            var victims: [Int] = []
            var master: Int?
            for (_, other, dx, dy) in met {
                if profiles[other].flux < profiles[newcomer].flux {
                    if wings[newcomer].exist, wings[newcomer].takeOut(profiles[other], dx: dx, dy: dy) {
                        victims.append(other)
                    }
                } else if wings[other].exist, wings[other].takeOut(profiles[newcomer], dx: dx, dy: dy) {
                    master = other
                    break
                }
            }
            if let master {
                take(newcomer, into: master)
                continue
            }
            for victim in victims.reversed() {
                take(victim, into: newcomer)
                guard let place = places[victim], let last = list.popLast() else { continue }
                places[victim] = nil
                if last != victim {
                    list[place] = last
                    places[last] = place
                }
            }
            places[newcomer] = list.count
            list.append(newcomer)
        }
        return places.map { $0 != nil }
    }

    /// Calls `body` with each other source that is close enough to be tested, and with the distance of this source from it.
    private func forEachNeighbour(of index: Int, _ body: (_ other: Int, _ dx: Float, _ dy: Float) -> Void) {
        let (profile, place) = (profiles[index], positions[index])
        for sizes in classes {
            let reach = Double(CleanProfile.zone * (profile.a + sizes.largest)) + 1
            guard reach.isFinite else { continue }
            sizes.forEachMember(within: reach, of: place) { other in
                let dx = Float(place.x - positions[other].x)
                let dy = Float(place.y - positions[other].y)
                if other != index, profile.reaches(profiles[other], dx: dx, dy: dy) { body(other, dx, dy) }
            }
        }
    }

    /// Whether a source comes first in the order by brightness. Equally bright ones are in the order of their places, so that
    /// the order is the same in every sector.
    private func isBrighter(_ one: Int, _ other: Int) -> Bool {
        (-profiles[one].flux, positions[one].y, positions[one].x, one)
            < (-profiles[other].flux, positions[other].y, positions[other].x, other)
    }

    /// Whether a source comes first in the order in which footprints end. Equal ends, which only damaged data have, are in the
    /// order of the places.
    private func comesBefore(_ one: Int, _ other: Int) -> Bool {
        let (first, second) = (profiles[one], profiles[other])
        guard (first.line, first.column, first.child) == (second.line, second.column, second.child) else {
            return (first.line, first.column, first.child) < (second.line, second.column, second.child)
        }
        return (positions[one].y, positions[one].x, one) < (positions[other].y, positions[other].x, other)
    }
}

/// Sources of similar size, in bands of rows, and within each band by column.
private struct SizeClass {
    /// The largest axis among them.
    let largest: Float
    private let members: [(x: Double, y: Double, index: Int)]
    private let bands: [(number: Int, members: Range<Int>)]
    private let height: Double

    init(_ indices: [Int], largest: Float, positions: [(x: Double, y: Double)]) {
        self.largest = largest
        let reach = Double(CleanProfile.zone * largest)
        // A band is about as high as a search is wide. Axes come from another process, and may have any value.
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

    /// Calls `body` with the members in the square around `place`.
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
