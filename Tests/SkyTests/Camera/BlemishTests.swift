import Glibc
import Testing

@testable import Sky

@Suite struct BlemishTests {
    private func recipe(_ change: (inout SkySynthesis) -> Void) -> SkySynthesis {
        var recipe = SkySynthesis()
        recipe.width = 200
        recipe.height = 120
        recipe.seed = 11
        recipe.stars = 0
        recipe.galaxies = 0
        change(&recipe)
        return recipe
    }

    private func sum(_ canvas: PixelCanvas) -> Double { canvas.pixels.reduce(0) { $0 + Double($1) } }

    // MARK: - Cosmic rays

    @Test func `the truth of the cosmic rays holds all their charge`() {
        let recipe = recipe { $0.cosmicRays = 60 }
        var canvas = PixelCanvas(width: 200, height: 120)
        let truth = CosmicRays(recipe, plane: TangentPlane(recipe), epoch: 0).paint(on: &canvas)
        #expect(truth.count == 60)
        #expect(truth.allSatisfy { $0.kind == .cosmic && $0.flux > 0 && $0.signalToNoise > 0 })
        #expect(truth.allSatisfy { 0.5...200.5 ~= $0.x && 0.5...120.5 ~= $0.y && 0...41 ~= $0.length })
        #expect(abs(sum(canvas) / truth.reduce(0) { $0 + $1.flux } - 1) < 1e-5)
    }

    @Test func `a track is one pixel wide and as long as its truth says`() {
        var lengths: [Double] = []
        for seed in 1...40 {
            let recipe = recipe {
                $0.cosmicRays = 1
                $0.seed = UInt64(seed)
            }
            var canvas = PixelCanvas(width: 200, height: 120)
            let truth = CosmicRays(recipe, plane: TangentPlane(recipe), epoch: 0).paint(on: &canvas)[0]
            let hit = canvas.pixels.indices.filter { canvas.pixels[$0] > 0 }
            let angle = truth.angle * .pi / 180
            for index in hit {
                let (dx, dy) = (Double(index % 200) + 1 - truth.x, Double(index / 200) + 1 - truth.y)
                // Half a pixel's diagonal, from the line and from its ends.
                #expect(abs(dy * cos(angle) - dx * sin(angle)) < 0.72)
                #expect(abs(dx * cos(angle) + dy * sin(angle)) < 0.5 * truth.length + 0.72)
            }
            #expect(Double(hit.count) <= 1.42 * truth.length + 2)
            lengths.append(truth.length)
        }
        #expect((lengths.max() ?? 0) > 15)
        #expect((lengths.min() ?? 99) < 5)
    }

    @Test func `cosmic rays are in the frame and leave the rest of it as it is`() {
        let with = recipe { $0.cosmicRays = 5 }.render()
        let without = recipe { _ in }.render()
        let changed = with.pixels.indices.filter { with.pixels[$0] != without.pixels[$0] }
        #expect(changed.count > 10)
        #expect(changed.count < 300)
        #expect(without.truth.isEmpty)
        #expect(with.truth.map(\.kind) == Array(repeating: .cosmic, count: 5))
    }

    // MARK: - Trails

    @Test(arguments: [0.0, 30, 90, 123.4])
    func `a trail has the light of its brightness, width and length`(angle: Double) {
        let trail = SatelliteTrail(x: 90, y: 50, angle: angle, sigma: 1.4, brightness: 500)
        var canvas = PixelCanvas(width: 200, height: 120)
        let flux = trail.paint(floor: 0.01, on: &canvas)
        let chord = trail.chord(width: 200, height: 120)
        let length = chord.upperBound - chord.lowerBound
        #expect(abs(sum(canvas) / flux - 1) < 1e-5)
        #expect(abs(flux / (500 * 1.4 * (2 * Double.pi).squareRoot() * length) - 1) < 0.01)
        // In its middle it is as bright as it should be, but for what the pixels blur.
        #expect(abs((canvas.pixels.max() ?? 0) / 500 - 0.98) < 0.02)
    }

    @Test func `a trail crosses the whole frame`() {
        for seed in 1...20 {
            let recipe = recipe {
                $0.trails = 1
                $0.seed = UInt64(seed)
            }
            let trails = SatelliteTrail.draw(recipe, epoch: 0)
            #expect(trails.count == 1)
            for trail in trails {
                var canvas = PixelCanvas(width: 200, height: 120)
                let truth = trail.truth(
                    flux: trail.paint(floor: 1, on: &canvas), in: recipe, plane: TangentPlane(recipe))
                let along = (cos(truth.angle * .pi / 180), sin(truth.angle * .pi / 180))
                for end in [-0.5, 0.5] {
                    let x = truth.x + end * truth.length * along.0
                    let y = truth.y + end * truth.length * along.1
                    // Both ends are on the frame's outline.
                    let gap = min(abs(x - 0.5), abs(x - 200.5), abs(y - 0.5), abs(y - 120.5))
                    #expect(gap < 1e-6, "seed \(seed)")
                }
                #expect(truth.length >= 100)
            }
        }
    }

    // MARK: - The block without values

    @Test func `pixels are missing only in the block that the header names`() {
        let frame = recipe { $0.nanBlock = true }.render()
        let block = BadBlock(recipe { $0.nanBlock = true }).area
        #expect(block.width == 25 && block.height == 10)
        for (index, pixel) in frame.pixels.enumerated() {
            let inside =
                block.x..<block.x + block.width ~= index % 200 && block.y..<block.y + block.height ~= index / 200
            #expect(pixel.isNaN == inside)
        }
        let section = "[\(block.x + 1):\(block.x + 25),\(block.y + 1):\(block.y + 10)]"
        #expect(frame.header.first { $0.keyword == "BADSEC" }?.value == .text(section))
    }

    @Test func `the smallest frame has room for every blemish`() {
        for seed in 0..<10 {
            let recipe = recipe {
                ($0.width, $0.height, $0.seed) = (16, 16, UInt64(seed))
                ($0.nanBlock, $0.cosmicRays, $0.trails) = (true, 20, 3)
            }
            #expect(recipe.render().pixels.contains { $0.isNaN })
        }
    }
}
