import Glibc

/// How the light in a circle grows with its radius, in rings of the same width.
///
/// The numbers are bit by bit those of SEP 1.2.1's `sep_flux_radius` with five by five parts of a pixel and without a mask; a test
/// compares them. SEP gives each part of a pixel to the ring of the part's centre. The light of a ring depends on the order of its
/// own pixels only. So the rings are measured in two groups, the outer ones only if the inner ones have too little light.
struct CurveOfGrowth {
    /// The number of rings.
    private static let rings = 64
    /// The first group of rings. Half of the light of most sources lies in these, if the limit is 2.5 times the axes.
    private static let first = 40
    /// A pixel that is farther from the edges of its ring is not divided.
    private static let margin = 0.7072
    /// A narrower curve would have rings without number.
    private static let smallestLimit = 1e-3

    private let pixels: AperturePixels
    private let x: Double
    private let y: Double
    private let limit: Double

    /// - Parameters:
    ///   - x: The centre in pixels counted from 0.
    ///   - limit: The radius of the last ring in pixels.
    /// - Returns: `nil` for a limit without a size, or one beyond all images.
    init?(_ pixels: AperturePixels, x: Double, y: Double, limit: Double) {
        guard limit >= Self.smallestLimit, limit <= AperturePixels.largestRadius,
            abs(x) <= AperturePixels.largestRadius, abs(y) <= AperturePixels.largestRadius
        else {
            return nil
        }
        (self.pixels, self.x, self.y, self.limit) = (pixels, x, y, limit)
    }

    /// The radius within which so much light lies, as SEP interpolates it; the limit, if the rings have less light.
    func radius(of light: Double) -> Double {
        withUnsafeTemporaryAllocation(of: Double.self, capacity: Self.rings + 1) { lights in
            guard let lights = lights.baseAddress else { return limit }
            lights.initialize(repeating: 0, count: Self.rings + 1)
            let step = limit / Double(Self.rings)
            var below = 0.0
            for ring in 0..<Self.rings {
                if ring == 0 { measure(0..<Self.first, into: lights) }
                if ring == Self.first { measure(ring..<Self.rings, into: lights) }
                let sum = ring == 0 ? lights[0] : lights[ring] + below
                guard sum < light else {
                    if ring > 0 { return step * (Double(ring) + (light - below) / (sum - below)) }
                    return light <= 0 || sum == 0 ? 0 : step * light / sum
                }
                below = sum
            }
            return limit
        }
    }

    /// Adds the light of the parts in a group of rings, pixel by pixel.
    ///
    /// - Parameter lights: The light of each ring; one more place takes the parts in other rings.
    private func measure(_ group: Range<Int>, into lights: UnsafeMutablePointer<Double>) {
        let step = limit / Double(Self.rings)
        let density = 1 / step
        let least = max(Double(group.lowerBound) * step - PixelParts.reach, 0)
        let most = Double(group.upperBound) * step + PixelParts.reach
        let (inner, outer) = (least * least, most * most)
        let isWide = step > Self.margin
        let columns = Self.range(x, most, pixels.width)
        let own = lights + group.lowerBound
        let other = Self.rings - group.lowerBound
        withUnsafeTemporaryAllocation(of: PixelParts.self, capacity: columns.count) { parts in
            guard let parts = parts.baseAddress else { return }
            for place in 0..<columns.count {
                (parts + place).initialize(to: PixelParts(distance: Double(columns.lowerBound + place) - x))
            }
            for line in Self.range(y, most, pixels.height) {
                let line = (parts: PixelParts(distance: Double(line) - y), pixels: pixels.values + line * pixels.width)
                for place in 0..<columns.count {
                    let square = parts[place].square + line.parts.square
                    guard square >= inner, square <= outer else { continue }
                    let value = Double(line.pixels[columns.lowerBound + place])
                    func add(_ light: Double, _ place: Double) {
                        let ring = Int(place) &- group.lowerBound
                        own[UInt(bitPattern: ring) < UInt(bitPattern: group.count) ? ring : other] += light
                    }
                    if isWide {
                        let distance = square.squareRoot()
                        let rest = fmod(distance, step)
                        guard rest < Self.margin || rest > step - Self.margin else {
                            add(value, distance * density)
                            continue
                        }
                    }
                    let light = PixelParts.share * value
                    func add(_ squares: SIMD4<Double>) {
                        let places = squares.squareRoot() * density
                        for index in 0..<4 { add(light, places[index]) }
                    }
                    for index in 0..<4 { add(parts[place].squares + line.parts.squares[index]) }
                    add(parts[place].squares + line.parts.lastSquare)
                    add(line.parts.squares + parts[place].lastSquare)
                    add(light, (line.parts.lastSquare + parts[place].lastSquare).squareRoot() * density)
                }
            }
        }
    }

    /// The columns or the lines that lie within a distance of the centre, and perhaps one more.
    private static func range(_ centre: Double, _ distance: Double, _ count: Int) -> Range<Int> {
        let first = min(max(0, Int(centre - distance)), count)
        return first..<max(first, min(count, Int(centre + distance) + 1))
    }
}
