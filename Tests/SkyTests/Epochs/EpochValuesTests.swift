import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct EpochValuesTests {
    @Test func `normal equations recover the parameters, or give nothing if these are undetermined`() throws {
        var equations = NormalEquations(count: 3)
        for x in 0..<10 {
            let t = Double(x)
            equations.add([1, t, t * t], value: 2 - 3 * t + 0.5 * t * t, weight: 1 + t)
        }
        let solution = try #require(equations.solved())
        #expect(solution.count == 3 && zip(solution, [2, -3, 0.5]).allSatisfy { abs($0 - $1) < 1e-9 })
        var same = NormalEquations(count: 2)
        for x in 0..<5 { same.add([Double(x), 2 * Double(x)], value: 1, weight: 1) }
        #expect(same.solved() == nil)
    }

    @Test func `a cubic map is fitted to twenty points`() throws {
        var random = RandomStream(seed: 1, purpose: 1)
        func image(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
            (10 + 1.01 * x - 0.2 * y + 1e-5 * x * y + 1e-9 * x * x * x, -4 + 0.2 * x + y - 2e-9 * y * y * x)
        }
        let points = (0..<20).map { _ in (x: random.uniform(0, 4000), y: random.uniform(0, 4000)) }
        let map = try #require(PositionMap(from: points, to: points.map { image($0.x, $0.y) }, degree: 3))
        let (place, truth) = (map((1234, 3210)), image(1234, 3210))
        #expect(abs(place.x - truth.x) < 1e-6 && abs(place.y - truth.y) < 1e-6)
        #expect(PositionMap(from: [(x: 1, y: 1)], to: [(x: 1, y: 1)], degree: 1) == nil)
    }

    @Test func `the projection of the sky is right at the poles and across zero hours`() throws {
        for (alpha, delta) in [(0.0, 0.0), (359.999, 10), (123, 89.9), (40, -89.95)] {
            let projection = GnomonicProjection(alpha: alpha, delta: delta)
            let north = try #require(projection.place(alpha: alpha, delta: delta + 0.01))
            #expect(abs(north.x) < 1e-6 && abs(north.y - 36) < 1e-5)
            let east = try #require(projection.place(alpha: alpha + 0.01, delta: delta))
            #expect(abs(east.x - 36 * cos(delta * .pi / 180)) < 1e-3)
            #expect(projection.place(alpha: alpha + 180, delta: -delta) == nil)
        }
        let middle = try #require(GnomonicProjection(around: [(359.9, 1), (0.1, 1)]))
        #expect(abs(middle.alpha) < 1e-9 || abs(middle.alpha - 360) < 1e-9)
        #expect(GnomonicProjection(around: []) == nil && GnomonicProjection(around: [(0, 0), (180, 0)]) == nil)
    }

    @Test func `interpolation keeps what is flat, and moves a star to a fraction of a pixel`() throws {
        let lanczos = LanczosFilter()
        let flat = [Float](repeating: 7, count: 400)
        #expect(abs((lanczos.value(of: flat, width: 20, height: 20, x: 9.37, y: 8.81) ?? 0) - 7) < 1e-5)
        #expect(lanczos.value(of: flat, width: 20, height: 20, x: 1.9, y: 8) == nil)
        #expect(lanczos.value(of: flat, width: 20, height: 20, x: .nan, y: 8) == nil)
        #expect(lanczos.value(of: flat, width: 20, height: 20, x: 1e300, y: 8) == nil)
        var star = [Float](repeating: 0, count: 400)
        for y in 0..<20 {
            for x in 0..<20 {
                star[y * 20 + x] = Float(exp(-(pow(Double(x) - 9.3, 2) + pow(Double(y) - 10.6, 2)) / 4))
            }
        }
        let top = try #require(lanczos.value(of: star, width: 20, height: 20, x: 9.3, y: 10.6))
        #expect(abs(top - 1) < 0.01)
    }

    @Test func `smoothing keeps the light, and a kernel is the sum that it says`() {
        var plane = PixelArray(width: 41, height: 37)
        plane.values[18 * 41 + 20] = 100
        let smooth = plane.smoothed(sigma: 1.7)
        #expect(abs(smooth.values.reduce(0, +) - 100) < 0.01)
        #expect(abs(smooth.values[18 * 41 + 20] - Float(100 / (2 * .pi * 1.7 * 1.7))) < 0.1)
        let kernel = (0..<49).map { Float($0) }
        let convolved = plane.convolved(with: kernel, radius: 3)
        // At (x + i, y + j) of a point stands the kernel's value at (i, j).
        #expect(convolved.values[18 * 41 + 20] == 2400)
        #expect(convolved.values[(18 - 3) * 41 + 20 - 3] == 0)
        #expect(convolved.values[(18 - 3) * 41 + 20 + 3] == 600)
        #expect(convolved.values[(18 + 3) * 41 + 20 - 3] == 4200)
        #expect(convolved.values[5] == 0)
    }

    @Test(arguments: [1, 2, 16, 17, 100, 1849])
    func `middle and spread are those of sorted values, however they lie`(count: Int) throws {
        var random = RandomStream(seed: 3, purpose: 1)
        let scattered = (0..<count).map { _ in Float(random.normal()) }
        let rising = (0..<count).map { Float($0) }
        let few = scattered.map { $0.rounded() }
        let same = [Float](repeating: 7, count: count)
        let peaked = rising.map { min($0, Float(count) - $0) }
        for values in [scattered, rising, rising.reversed(), few, same, peaked] {
            let spread = try #require(RobustStatistics.spread(values))
            let middle = values.sorted()[count / 2]
            let deviation = values.map { abs($0 - middle) }.sorted()[count / 2]
            #expect(spread.middle == middle)
            #expect(spread.sigma == deviation * Float(RobustStatistics.sigmasPerDeviation))
        }
        #expect(RobustStatistics.spread([Float]()) == nil)
        // Values that are not numbers have no median, but the search ends.
        _ = RobustStatistics.spread([Float](repeating: .nan, count: count))
    }

    @Test func `the noise of a plane does not see its sources`() {
        var random = RandomStream(seed: 2, purpose: 2)
        var plane = PixelArray(width: 256, height: 256)
        for index in plane.values.indices { plane.values[index] = Float(5 + 2 * random.normal()) }
        for place in 0..<300 { plane.values[place * 211] += 5000 }
        let mask = [PixelMask](repeating: [], count: plane.values.count)
        let grid = NoiseGrid(plane, mask: mask)
        #expect(abs(grid.sigma - 2) < 0.1 && abs(grid.level(x: 30, y: 200) - 5) < 0.2)
        let nothing = NoiseGrid(plane, mask: mask.map { _ in .missing })
        #expect(nothing.sigma == 0)
    }

    @Test func `a magnitude is a value, a limit or nothing`() throws {
        let bright = try #require(EpochChange.magnitude(1000, 10, zeroPoint: 25))
        #expect(abs(bright.value - 17.5) < 1e-9 && abs((bright.error ?? 0) - 0.010857) < 1e-5)
        let unseen = try #require(EpochChange.magnitude(-50, 10, zeroPoint: 25))
        #expect(unseen.error == nil && abs(unseen.value - (25 - 2.5 * log10(30.0))) < 1e-9)
        #expect(
            EpochChange.magnitude(.nan, 1, zeroPoint: 25) == nil && EpochChange.magnitude(5, 0, zeroPoint: 25) == nil)
    }
}
