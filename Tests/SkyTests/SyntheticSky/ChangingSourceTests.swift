import Glibc
import Testing

@testable import Sky

@Suite struct ChangingSourceTests {
    private func recipe(_ change: (inout SkySynthesis) -> Void) -> SkySynthesis {
        var recipe = SkySynthesis()
        recipe.width = 256
        recipe.height = 192
        recipe.seed = 5
        recipe.epochs = 4
        recipe.stars = 80
        recipe.galaxies = 30
        change(&recipe)
        return recipe
    }

    private func truth(_ recipe: SkySynthesis) -> [[TruthSource]] {
        let field = SkyField(recipe)
        return (0..<recipe.epochs).map { epoch in
            field.sources(in: Observation(recipe, EpochConditions(recipe, epoch: epoch)))
        }
    }

    /// Degrees between two places, for small distances.
    private func distance(_ a: TruthSource, _ b: TruthSource) -> Double {
        hypot((a.alpha - b.alpha) * cos(a.delta * .pi / 180), a.delta - b.delta)
    }

    // MARK: - Transients

    @Test func `transients appear, and some are there at first and vanish`() {
        let epochs = truth(recipe { $0.transients = 40 }).map { $0.filter { $0.kind == .transient } }
        let ids = Set(epochs.flatMap { $0.map(\.id) })
        #expect(ids.count == 40)
        let presence = ids.map { id in epochs.map { $0.contains { $0.id == id } } }
        #expect(presence.count { $0[0] } == 10)
        for there in presence {
            #expect(there.contains(false) && there.contains(true))
            // Once, without a gap.
            #expect(zip(there, there.dropFirst()).count { $0.0 != $0.1 } <= 2)
        }
        #expect(Set(presence.compactMap { $0.firstIndex(of: true) }) == [0, 1, 2, 3])
    }

    @Test func `every second transient is on the outskirts of its host`() throws {
        let recipe = recipe { $0.transients = 40 }
        let all = truth(recipe)
        let galaxies = Dictionary(
            uniqueKeysWithValues: all[0].filter { $0.kind == .galaxy }.map { ($0.id, $0) })
        var seen: [Int: TruthSource] = [:]
        for source in all.joined() where source.kind == .transient && source.host != 0 { seen[source.id] = source }
        #expect(seen.count == 20)
        for source in seen.values {
            let host = try #require(galaxies[source.host])
            let radii = distance(source, host) * 3600 / recipe.pixelScale / host.radius
            #expect(radii <= 2.5 + 1e-6 && radii >= host.axisRatio - 1e-6)
        }
    }

    @Test func `the light of a transient is in its epochs only`() throws {
        let recipe = recipe {
            ($0.stars, $0.galaxies, $0.transients, $0.gradient) = (0, 0, 12, 0)
        }
        let frames = (0..<4).map { recipe.render(epoch: $0) }
        var absent = 0
        for source in frames.flatMap(\.truth) where source.signalToNoise > 60 {
            for (epoch, frame) in frames.enumerated() {
                let view = Observation(recipe, EpochConditions(recipe, epoch: epoch))
                let place = try #require(view.seen(source))
                guard 8...248 ~= place.x, 8...184 ~= place.y else { continue }
                let there = frame.truth.contains { $0.id == source.id }
                let clear = !frame.truth.contains { $0.id != source.id && hypot($0.x - place.x, $0.y - place.y) < 25 }
                let pixel = frame.pixels[(Int(place.y.rounded()) - 1) * 256 + Int(place.x.rounded()) - 1]
                let peak = (Double(pixel) - view.recipe.sky) / view.recipe.skyVariance.squareRoot()
                if there { #expect(peak > 6) } else if clear { #expect(peak < 6) }
                if !there { absent += 1 }
            }
        }
        #expect(absent > 0)
    }

    // MARK: - Movers

    @Test func `movers keep their rate and their heading in the sky`() throws {
        let recipe = recipe { $0.movers = 20 }
        let epochs = truth(recipe).map { $0.filter { $0.kind == .mover } }
        #expect(epochs.allSatisfy { $0.count == 20 })
        for (number, start) in epochs[0].enumerated() {
            #expect(6...60 ~= start.rate)
            for epoch in 1..<4 {
                let later = epochs[epoch][number]
                #expect(later.id == start.id)
                let moved = distance(start, later) * 3600
                #expect(abs(moved - start.rate * 0.5 * Double(epoch)) < 1e-3)
                let east = (later.alpha - start.alpha) * cos(start.delta * .pi / 180)
                let heading = atan2(east, later.delta - start.delta) * 180 / .pi
                #expect(abs(remainder(heading - start.heading, 360)) < 0.01)
            }
        }
    }

    @Test func `movers cross the pole and the zero of right ascension`() {
        var source = TruthSource(
            kind: .mover, x: 0, y: 0, alpha: 359.99, delta: 89.99, magnitude: 20, flux: 0, signalToNoise: 0)
        source.rate = 72
        let over = Mover(source: source).after(hours: 1)
        #expect(abs(over.delta - 89.99) < 1e-9)
        #expect(abs(over.alpha - 179.99) < 1e-6)
        source.delta = 0
        source.heading = 90
        let wrapped = Mover(source: source).after(hours: 1)
        #expect(abs(wrapped.alpha - 0.01) < 1e-9)
    }

    @Test func `the light of a mover is where its truth says`() throws {
        let recipe = recipe {
            ($0.stars, $0.galaxies, $0.movers, $0.gradient) = (0, 0, 1, 0)
            ($0.slowest, $0.fastest, $0.sky, $0.readNoise) = (6, 8, 0, 0)
        }
        for epoch in 0..<4 {
            let frame = recipe.render(epoch: epoch)
            let mover = try #require(frame.truth.first)
            var (sum, x, y) = (0.0, 0.0, 0.0)
            for (index, pixel) in frame.pixels.enumerated() {
                sum += Double(pixel)
                x += Double(pixel) * Double(index % 256 + 1)
                y += Double(pixel) * Double(index / 256 + 1)
            }
            #expect(abs(sum / mover.flux - 1) < 0.05)
            #expect(hypot(x / sum - mover.x, y / sum - mover.y) < 0.3)
        }
    }

    // MARK: - Variable stars

    @Test func `only the stars that are chosen to vary do so`() {
        let epochs = truth(recipe { $0.variables = 12 })
        let first = Dictionary(uniqueKeysWithValues: epochs[0].map { ($0.id, $0) })
        #expect(epochs.count > 1 && epochs[0].count > 12 && epochs[0].allSatisfy { $0.magnitudeChange == 0 })
        for epoch in epochs.dropFirst() {
            let changed = epoch.filter { $0.magnitudeChange != 0 }
            #expect(changed.count == 12)
            for source in changed {
                #expect(source.kind == .star && 0.4...1.5 ~= abs(source.magnitudeChange))
                let before = first[source.id]?.magnitude ?? .nan
                #expect(abs(source.magnitude - before - source.magnitudeChange) < 1e-9)
            }
            for source in epoch where source.magnitudeChange == 0 {
                #expect(source.magnitude == first[source.id]?.magnitude)
            }
        }
        #expect(Set(epochs[1].filter { $0.magnitudeChange != 0 }.map(\.id)).count == 12)
    }

    @Test func `every star may vary`() {
        let recipe = recipe { $0.variables = 80 }
        #expect(truth(recipe)[1].count { $0.magnitudeChange != 0 } == 80)
        #expect(throws: Never.self) { try recipe.validate() }
    }

    @Test func `more sources of one kind do not move the others`() {
        let few = truth(recipe { $0.movers = 3 })[2]
        let more = truth(
            recipe {
                ($0.movers, $0.transients, $0.cosmicRays) = (3, 9, 9)
            })[2]
        func places(_ sources: [TruthSource], _ kind: TruthSource.Kind) -> [Double] {
            sources.filter { $0.kind == kind }.map(\.x)
        }
        for kind in [TruthSource.Kind.star, .galaxy, .mover] { #expect(places(few, kind) == places(more, kind)) }
    }
}
