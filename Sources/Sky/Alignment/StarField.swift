import Base
import Glibc

/// The stars of two images. It searches for the motion that takes the stars of the old image to those of the new one.
struct StarField {
    /// The places of the stars in the lists of all sources.
    private(set) var new: [Int]
    private(set) var old: [Int]
    /// The number of sources that were left out because they are at the same pixel in both images, while the stars are not.
    private(set) var fixed = 0

    private let frame: CommonFrame
    private let sources: (new: [Source], old: [Source])
    private let infos: (new: ImageInfo, old: ImageInfo)

    /// The error that coordinates may have if the user gives none: the larger of the two, in arcseconds and in pixels of the
    /// new image. A solved image is right to a fraction of a pixel, but some headers have what the mount assumed before the
    /// image was solved.
    static let usualError = (arcseconds: 20.0, pixels: 10.0)
    /// The largest distance of two sources at the same pixel.
    private static let samePixel = 0.7
    /// A smaller motion cannot be distinguished from none.
    private static let leastMotion = 2.0

    static let oppositeParts = SkyError(
        .badInput, "the two images do not overlap: by their coordinates they show opposite parts of the sky")
    static let nothingInCommon = SkyError(
        .badInput, "the two images have no stars in common; do they show the same part of the sky?")

    init(
        _ frame: CommonFrame, _ new: [Source], _ old: [Source], _ newStars: [Int], _ oldStars: [Int],
        _ newInfo: ImageInfo, _ oldInfo: ImageInfo
    ) {
        (self.frame, self.new, self.old) = (frame, newStars, oldStars)
        (sources, infos) = ((new, old), (newInfo, oldInfo))
    }

    /// The motion that takes the old stars, at the places by their coordinates, to the new ones.
    ///
    /// - Parameter error: The largest error of coordinates in arcseconds; `nil` for the usual one.
    /// - Throws: `.badInput` if there is no motion, or if it contradicts the coordinates.
    mutating func motion(within error: Double?) throws(SkyError) -> RigidMotion {
        guard let pixelsPerArcsecond = frame.pixelsPerArcsecond else { return try motionOfPixels() }
        let usual = max(Self.usualError.arcseconds * pixelsPerArcsecond, Self.usualError.pixels)
        let limit = error.map { $0 * pixelsPerArcsecond } ?? usual
        try checkOverlap(rim: limit, pixelsPerArcsecond)
        let corners = [(0, 0), (infos.new.width, 0), (0, infos.new.height), (infos.new.width, infos.new.height)]
            .map { (x: Double($0.0), y: Double($0.1)) }
        let possible = StarPattern.Limit(pixels: limit, corners: corners)
        if displacement > Self.leastMotion, let motion = motionOfTheRest(rim: limit, possible) { return motion }
        let near = overlapping(rim: limit)
        if let found = pattern(near.new, near.old, possible).motion() { return found.motion }
        guard let other = pattern(new, old, nil).motion() else { throw Self.nothingInCommon }
        let middle = (x: Double(infos.new.width) / 2, y: Double(infos.new.height) / 2)
        let moved = other.motion(middle)
        let off = hypot(moved.x - middle.x, moved.y - middle.y)
        throw SkyError(
            .badInput,
            "the coordinates of the two images do not fit together: their stars would, \(DecimalText.fixed(off, 0)) pixels"
                + " (\(DecimalText.fixed(off / pixelsPerArcsecond, 0)) arcsec) away from where coordinates have them;"
                + " --coordinate-error lets them be wrong by more")
    }

    /// The motion without coordinates: that of the sources that move, or else of all.
    private mutating func motionOfPixels() throws(SkyError) -> RigidMotion {
        if let motion = motionOfTheRest(rim: .infinity, nil), motion != .identity { return motion }
        guard let found = pattern(new, old, nil).motion() else { throw Self.nothingInCommon }
        return found.motion
    }

    /// The motion of the sources that do not stay at their pixel, if there are such and enough of them agree. Sources that stay
    /// are left out then.
    private mutating func motionOfTheRest(rim: Double, _ limit: StarPattern.Limit?) -> RigidMotion? {
        var rest = self
        rest.leaveOutFixed()
        guard rest.fixed > 0 else { return nil }
        let near = limit == nil ? (new: rest.new, old: rest.old) : rest.overlapping(rim: rim)
        // The fixed sources are counted in both images.
        guard let found = pattern(near.new, near.old, limit).motion(), found.count * 8 >= rest.fixed else { return nil }
        self = rest
        return found.motion
    }

    private func pattern(_ new: [Int], _ old: [Int], _ limit: StarPattern.Limit?) -> StarPattern {
        StarPattern(
            old: Self.brightest(old, of: sources.old).map { frame.old[$0] },
            new: Self.brightest(new, of: sources.new).map { frame.new[$0] }, limit: limit)
    }

    /// The brightest of some sources, brightest first.
    private static func brightest(_ indices: [Int], of sources: [Source]) -> [Int] {
        Array(indices.sorted { (-sources[$0].fluxAuto, $0) < (-sources[$1].fluxAuto, $1) }.prefix(400))
    }

    // MARK: - At the same pixel

    /// How far the sky has moved on the detector by the coordinates, in pixels.
    private var displacement: Double {
        let ways = old.compactMap { index -> Double? in
            let (here, there) = (frame.old[index], frame.oldPixels[index])
            return here.x.isFinite ? hypot(here.x - there.x, here.y - there.y) : nil
        }
        return RobustStatistics.median(ways) ?? 0
    }

    /// Leaves out the sources at the same pixel in both images. On detectors of different sizes there are none.
    private mutating func leaveOutFixed() {
        guard (infos.new.width, infos.new.height) == (infos.old.width, infos.old.height) else { return }
        let index = PositionIndex(old.map { (frame.oldPixels[$0].x, frame.oldPixels[$0].y) }, cell: Self.samePixel)
        var (news, olds): (Set<Int>, Set<Int>) = ([], [])
        for number in new {
            let place = frame.new[number]
            guard let match = index.nearest(x: place.x, y: place.y, where: { _ in true }) else { continue }
            news.insert(number)
            olds.insert(old[match.index])
        }
        new.removeAll { news.contains($0) }
        old.removeAll { olds.contains($0) }
        fixed += news.count + olds.count
    }

    // MARK: - Overlap

    /// The stars that both images show if coordinates are right within `rim` pixels.
    private func overlapping(rim: Double) -> (new: [Int], old: [Int]) {
        let (width, height) = (Double(infos.new.width), Double(infos.new.height))
        let olds = old.filter { index in
            let place = frame.old[index]
            return place.x > -rim && place.y > -rim && place.x < width + rim && place.y < height + rim
        }
        let places = old.map { frame.old[$0] }.filter { $0.x.isFinite }
        guard let left = places.map(\.x).min(), let right = places.map(\.x).max(), let bottom = places.map(\.y).min(),
            let top = places.map(\.y).max()
        else { return (new, olds) }
        let news = new.filter { index in
            let place = frame.new[index]
            return place.x > left - rim && place.x < right + rim && place.y > bottom - rim && place.y < top + rim
        }
        return (news, olds)
    }

    private func checkOverlap(rim: Double, _ pixelsPerArcsecond: Double) throws(SkyError) {
        let both = overlapping(rim: rim)
        guard both.new.isEmpty || both.old.isEmpty else { return }
        let places = old.map { frame.old[$0] }.filter { $0.x.isFinite }
        guard let x = RobustStatistics.median(places.map(\.x)), let y = RobustStatistics.median(places.map(\.y)) else {
            throw Self.oppositeParts
        }
        let away = hypot(x - Double(infos.new.width) / 2, y - Double(infos.new.height) / 2) / pixelsPerArcsecond
        let words =
            away < 3600 ? "\(DecimalText.fixed(away, 0)) arcsec" : "\(DecimalText.fixed(away / 3600, 2)) degrees"
        throw SkyError(.badInput, "the two images do not overlap: by their coordinates they lie \(words) apart")
    }
}
