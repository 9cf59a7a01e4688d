import Glibc

/// What CLEAN needs to know of a source: how bright its wings are at a distance, how little it stands out itself, and when its
/// turn comes.
///
/// SExtractor takes a source out if the wings of a brighter neighbour, continued as a Moffat profile, would lift the source's
/// pixels above the threshold (SExtractor's manual, "Cleaning"). That neighbour may be in another sector. So the decision is
/// made from these few numbers when all sectors are merged.
public struct CleanProfile: Hashable, Codable, Sendable {
    /// Summed flux of the filtered footprint. The brighter of two sources takes out the fainter one.
    public var flux: Float
    /// Pixels of the footprint.
    public var pixels: Int
    /// Area of the ellipse of the source's axes, in square pixels.
    public var area: Double
    /// Factor from the isophotal axes to those of the whole profile, at most 1 (Bertin's correction).
    public var correction: Float
    /// The detection threshold, in units of the image.
    public var threshold: Float
    /// First coefficient of the ellipse cxx x^2 + cyy y^2 + cxy x y = r^2.
    public var cxx: Float
    /// Second coefficient of the ellipse.
    public var cyy: Float
    /// Third coefficient of the ellipse.
    public var cxy: Float
    /// The larger axis in pixels.
    public var a: Float
    /// The height that a neighbour's wings must exceed to take this source out.
    public var limit: Float
    /// The last line of the footprint from which the source was split, in the image. SExtractor judges sources in the order in
    /// which their footprints end, and a source that has taken out others is brighter for those that follow.
    public var line: Int
    /// The last column of that footprint in that line.
    public var column: Int
    /// The place among the sources of that footprint.
    public var child: Int

    /// SExtractor's `CLEAN_ZONE`: sources that are further apart than this many times their axes do not affect each other.
    static let zone: Float = 10

    /// - Parameters:
    ///   - footprint: The source's pixels in SEP's order.
    ///   - pixels: The unfiltered image that the footprint indexes; `filtered` is the filtered one.
    ///   - corner: The corner of the rectangle that was searched, in the image.
    package init(
        _ object: Detection, footprint: ArraySlice<Int32>, pixels: UnsafePointer<Float>,
        filtered: UnsafePointer<Float>,
        minimumArea: Int, corner: (x: Int, y: Int)
    ) {
        flux = object.filteredFlux
        self.pixels = footprint.count
        cxx = object.cxx
        cyy = object.cyy
        cxy = object.cxy
        a = object.a
        threshold = object.threshold
        let (threshold, peak) = (Double(object.threshold), Double(object.peak))
        let half = (threshold + peak) / 2
        let bright = footprint.count { Double(pixels[Int($0)]) > half }
        area = Double.pi * Double(object.a) * Double(object.b)
        var correction = 1.0
        let ratio = threshold / half
        if ratio > 0 {
            let shortfall = bright < object.area ? Double(bright - object.area) : -1
            correction = min(1, shortfall / (2 * log(ratio < 1 ? ratio : 0.99) * area))
        }
        self.correction = Float(correction)
        limit = Self.limit(footprint.lazy.map { filtered[Int($0)] - object.threshold }, minimumArea: minimumArea)
        (line, column, child) = (object.turn.line + corner.y, object.turn.column + corner.x, object.turn.child)
    }

    /// The lowest of the `minimumArea` highest pixels, above the threshold, in the way in which SExtractor and SEP find it.
    ///
    /// They keep the highest pixels in a heap that is not quite correct. For a source of exactly `minimumArea` pixels the first
    /// pixel counts; the pixel after the first `minimumArea` ones is left out; and a new pixel sinks to the wrong place below
    /// the second row. The limit comes out a little high. A correct limit would take out more sources than users of SExtractor
    /// expect: 6 of 393 in a JWST frame.
    private static func limit(_ heights: some Collection<Float>, minimumArea: Int) -> Float {
        guard heights.count >= minimumArea else { return 0 }
        var heap = Array(heights.prefix(minimumArea))
        if heights.count > minimumArea { heap.sort() }
        for height in heights.dropFirst(minimumArea + 1) where height > heap[0] {
            heap[0] = height
            var place = 0
            while true {
                let right = 2 * place + 2
                guard right <= minimumArea else { break }
                let isRight = right < minimumArea && heap[right - 1] > heap[right]
                let child = isRight ? right : right - 1
                guard heap[place] > heap[child] else { break }
                heap.swapAt(place, child)
                // The place is one too far on purpose, as explained above.
                place = child + 1
            }
        }
        return heap[0]
    }

    /// Whether a source at a distance of `dx`, `dy` pixels is close enough to be tested.
    func reaches(_ other: CleanProfile, dx: Float, dy: Float) -> Bool {
        let reach = Self.zone * (a + other.a)
        return dx * dx + dy * dy < reach * reach
    }

    /// Adds the light and the pixels of a source that this one takes out.
    mutating func takeIn(_ other: CleanProfile) {
        flux += other.flux
        pixels = pixels.addingReportingOverflow(other.pixels).partialValue
    }

    /// The wings of a source.
    struct Wings {
        /// Height of the profile at its centre, in units of the image.
        private let amplitude: Double
        /// How fast the profile falls with the squared elliptical distance.
        private let slope: Double
        private let exponent: Double
        private let profile: CleanProfile

        /// - Parameter exponent: The exponent of the Moffat profile, `CLEAN_PARAM`.
        init(_ profile: CleanProfile, exponent: Double) {
            (self.profile, self.exponent) = (profile, exponent)
            amplitude = Double(profile.flux) / (2 * profile.area * Double(profile.correction))
            slope =
                (pow(amplitude / Double(profile.threshold), 1 / exponent) - 1) * profile.area / Double(profile.pixels)
        }

        /// Whether the source has wings. A profile that does not fall, or is not a number, takes out nothing.
        var exist: Bool { slope > 0 && amplitude > 0 }

        /// Whether the wings take out a fainter source within their reach, at a distance of `dx`, `dy` pixels.
        func takeOut(_ other: CleanProfile, dx: Float, dy: Float) -> Bool {
            let distance = profile.cxx * dx * dx + profile.cyy * dy * dy + profile.cxy * dx * dy
            let value = 1 + slope * Double(distance)
            guard value > 1 else { return false }
            return Float(value < 1e10 ? amplitude * pow(value, -exponent) : 0) > other.limit
        }
    }
}
