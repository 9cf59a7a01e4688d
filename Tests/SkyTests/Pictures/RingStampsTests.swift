import Base
import Testing

@testable import Sky

@Suite struct RingStampsTests {
    private let ink = Raster.Ink(red: 0.34, green: 0.85, blue: 1, opacity: 0.9)

    /// A ring drawn as a stamp, and as any ellipse is.
    private func pair(_ x: Double, _ y: Double, width: Int = 60, height: Int = 40) -> (stamped: Raster, drawn: Raster) {
        var pair = (stamped: Raster(width: width, height: height), drawn: Raster(width: width, height: height))
        pair.stamped.stroke(pair.stamped.rings(radius: 5, line: 1.3), x: x, y: y, ink: ink)
        pair.drawn.stroke(SourceEllipse(x: x, y: y, radius: 5), line: 1.3, ink: ink)
        return pair
    }

    @Test func `a stamp is where and what the ring would be`() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<200 {
            let x = 20 + Double(random.next() % 2000) / 100
            let (stamped, drawn) = pair(x, 20 + Double(random.next() % 1000) / 1000)
            let differences = zip(stamped.rows, drawn.rows).map { abs(Int($0) - Int($1)) }
            // A sixteenth of a pixel is that much of an edge's light, in each direction.
            #expect(differences.max() ?? 0 <= 255 / 8 && stamped.rows.contains { $0 > 150 }, "\(x)")
            let light = (stamped.rows.reduce(0) { $0 + Int($1) }, drawn.rows.reduce(0) { $0 + Int($1) })
            #expect(abs(light.0 - light.1) * 50 < light.1)
        }
    }

    @Test func `a ring at the edge, beyond it, or in a picture that is smaller is drawn as far as it is inside`() {
        for (x, y) in [(0, 0), (59.4, 39.4), (-3, 20), (30, 44), (-1e5, 1e5)] as [(Double, Double)] {
            let (stamped, drawn) = pair(x, y)
            #expect(stamped.rows == drawn.rows, "\(x) \(y)")
        }
        for (width, height) in [(1, 1), (3, 40), (60, 2), (15, 15), (16, 16), (17, 17), (18, 18)] {
            let (stamped, drawn) = pair(Double(width) / 2, Double(height) / 2, width: width, height: height)
            #expect(stamped.rows.contains { $0 > 0 } == drawn.rows.contains { $0 > 0 }, "\(width) \(height)")
        }
        // The last place with room, and the first without.
        for x in [7.49, 7.5, 51.49, 51.5] {
            let (stamped, drawn) = pair(x, 20)
            #expect(stamped.rows.contains { $0 > 150 } && drawn.rows.contains { $0 > 150 })
        }
    }
}
