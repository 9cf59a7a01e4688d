import Testing

@testable import Sky

/// Our own search finds the objects that SEP finds.
@Suite struct ObjectSearchTests {
    /// Noise with stars, few or many, on a rectangle of any size.
    private func pixels(_ random: inout RandomStream) -> (values: [Float], width: Int, height: Int) {
        let (width, height) = (Int(random.uniform(1, 110)), Int(random.uniform(1, 110)))
        var values = (0..<width * height).map { _ in random.normal() }
        let stars = Int(Double(width * height) * 0.05 * random.uniform() * random.uniform())
        for _ in 0..<stars {
            let (x, y) = (Int(random.uniform(0, Double(width))), Int(random.uniform(0, Double(height))))
            let (flux, reach) = (5 + 200 * random.uniform() * random.uniform() * random.uniform(), random.uniform(1, 6))
            let (shiftX, shiftY) = (random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5))
            for row in max(0, y - 8)..<min(height, y + 9) {
                for column in max(0, x - 8)..<min(width, x + 9) {
                    let (dx, dy) = (Double(column - x) - shiftX, Double(row - y) - shiftY)
                    let ratio = 1 + (dx * dx + dy * dy) / reach
                    values[row * width + column] += flux / (ratio * ratio)
                }
            }
        }
        // Equal pixels try the comparisons, and pixels without a size the divisions.
        switch random.uniform() {
        case ..<0.2: values = values.map { $0.rounded() }
        case ..<0.25: values = values.map { $0 * 1e-40 }
        case ..<0.3: values = values.map { $0 * 1e33 }
        case ..<0.35: for place in values.indices where random.uniform() < 0.01 { values[place] = .infinity }
        default: break
        }
        return (values.map { Float($0) }, width, height)
    }

    private func isSame(_ one: Detection, _ other: Detection) -> Bool {
        func same<Number: BinaryFloatingPoint>(_ one: [Number], _ other: [Number]) -> Bool {
            zip(one, other).allSatisfy { $0.isNaN ? $1.isNaN : $0 == $1 && $0.sign == $1.sign }
        }
        return same([one.x, one.y], [other.x, other.y])
            && same(
                [one.a, one.b, one.theta, one.cxx, one.cyy, one.cxy],
                [
                    other.a, other.b, other.theta, other.cxx, other.cyy, other.cxy,
                ])
            && same(
                [one.filteredFlux, one.flux, one.peak, one.threshold],
                [
                    other.filteredFlux, other.flux, other.peak, other.threshold,
                ])
            && one.area == other.area && one.flags == other.flags
            && (one.minX, one.maxX, one.minY, one.maxY) == (other.minX, other.maxX, other.minY, other.maxY)
            && one.pixels == other.pixels && one.outline == other.outline
    }

    @Test func `objects and their pixels are those of SEP, bit by bit and in its order`() throws {
        let filters: [DetectionFilter] = [.pyramid, .none, .gaussian(fwhm: 2.5), .gaussian(fwhm: 5)]
        var objects = 0
        for seed in 1...UInt64(500) {
            var random = RandomStream(seed: seed, purpose: 8)
            let (values, width, height) = pixels(&random)
            var configuration = ScanConfiguration()
            configuration.filter = filters[Int(random.uniform(0, 4))]
            configuration.threshold = random.uniform(0.3, 2.5)
            configuration.minimumArea = Int(random.uniform(1, 9))
            configuration.deblendContrast = random.uniform() < 0.5 ? 0.005 : 0.1 * random.uniform() * random.uniform()
            let extraction = SEPExtraction(configuration: configuration, noise: Float(random.uniform(0.5, 2)))
            for levels in [1, 32, Int(random.uniform(2, 64))] {
                let (own, bySEP) = try values.withUnsafeBufferPointer { values in
                    let start = try #require(values.baseAddress)
                    return (
                        extraction.search(start, width: width, height: height, levels: levels),
                        try extraction.runSEP(
                            pixels: start, width: width, height: height, levels: levels,
                            pixelStack: width * height + 1024, subObjects: width * height + 16, place: "a test")
                    )
                }
                // Only SEP tells what becomes of objects whose light is not a number.
                guard let own else {
                    #expect(levels > 1 && values.contains { !$0.isFinite || abs($0) > 1e30 }, "seed \(seed)")
                    continue
                }
                let other = try #require(bySEP)
                objects += own.objects.count
                #expect(own.pixels == other.pixels, "seed \(seed), \(levels) levels")
                #expect(
                    own.objects.count == other.objects.count
                        && zip(own.objects, other.objects).allSatisfy { isSame($0, $1) },
                    "seed \(seed), \(levels) levels")
            }
        }
        #expect(objects > 10_000)
    }

    @Test func `what may go beyond the limits of SEP is left to SEP`() {
        var extraction = SEPExtraction(configuration: ScanConfiguration(), noise: 1)
        let pixels = [Float](repeating: 0, count: 400)
        pixels.withUnsafeBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            #expect(extraction.search(start, width: 20, height: 20, levels: 32)?.objects.isEmpty == true)
            extraction.branchesLimit = 100
            #expect(extraction.search(start, width: 20, height: 20, levels: 32) == nil)
            #expect(extraction.search(start, width: 20, height: 20, levels: 1) != nil)
            extraction.stackLimit = 400
            #expect(extraction.search(start, width: 20, height: 20, levels: 1) == nil)
        }
    }
}
