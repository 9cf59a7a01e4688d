import CSEP
import Testing

@testable import Sky

/// The apertures have the numbers of SEP, bit by bit.
@Suite struct AperturesTests {
    /// Calls `body` with images of all kinds.
    private func forEachImage(
        seeds: ClosedRange<UInt64>, _ body: (SEPImage, inout RandomStream, _ what: String) -> Void
    ) {
        for seed in seeds {
            for kind in SEPImage.kinds {
                var random = RandomStream(seed: seed, purpose: 7)
                let (width, height) = (Int(random.uniform(1, 90)), Int(random.uniform(1, 90)))
                var image = SEPImage(kind, width: width, height: height, &random)
                image.noise = random.uniform(0, 3)
                if random.uniform() < 0.5 { image.gain = random.uniform(0, 5) }
                if random.uniform() < 0.5 { image.noises = image.values.map { _ in Float(random.uniform(0, 3)) } }
                body(image, &random, "\(kind.name), seed \(seed)")
            }
        }
    }

    /// A radius: mostly a few pixels, now and then nothing or more than the image.
    private func radius(_ random: inout RandomStream) -> Double {
        switch random.uniform() {
        case ..<0.05: 0
        case ..<0.1: random.uniform(0, 0.8)
        case ..<0.15: random.uniform(0, 200)
        case ..<0.2: Double(Int(random.uniform(0, 9))) + 0.5
        case ..<0.22: 1e-30
        case ..<0.24: 1e8
        default: random.uniform(0, 12)
        }
    }

    /// What is not a number is one: it cannot be measured.
    private func isSame(_ one: Double, _ other: Double) -> Bool {
        one.isNaN ? other.isNaN : one.bitPattern == other.bitPattern
    }

    private func ellipse(_ random: inout RandomStream) -> Ellipse {
        let a = Float(random.uniform() < 0.05 ? random.uniform(0, 300) : random.uniform(0, 5))
        return Ellipse(a: a, b: Float(random.uniform()) * a, theta: Float(random.uniform(-1.58, 1.58)))
    }

    @Test func `circles have the numbers of SEP, bit by bit`() {
        forEachImage(seeds: 1...40) { image, random, what in
            for _ in 0..<20 {
                let ((x, y), radius) = (image.place(&random), radius(&random))
                image.withPixels { pixels, image in
                    var (sum, error, area, flag) = (0.0, 0.0, 0.0, Int16(0))
                    let status = sep_sum_circle(&image, x, y, radius, 0, 5, 0, &sum, &error, &area, &flag)
                    let found = CircularAperture(pixels, x: x, y: y, radius: radius)
                    #expect(status == 0)
                    #expect(
                        found.map { isSame($0.sum, sum) && isSame($0.error, error) && isSame($0.area, area) } == true,
                        "\(what): \(radius) around \(x), \(y)")
                }
            }
        }
    }

    @Test func `ellipses have the numbers of SEP, bit by bit`() {
        forEachImage(seeds: 1...40) { image, random, what in
            for _ in 0..<20 {
                let ((x, y), radius, ellipse) = (image.place(&random), radius(&random), ellipse(&random))
                image.withPixels { pixels, image in
                    var (sum, error, area, flag) = (0.0, 0.0, 0.0, Int16(0))
                    let status = sep_sum_ellipse(
                        &image, x, y, ellipse.a, ellipse.b, ellipse.theta, radius, 0, 1, 0, &sum, &error, &area, &flag)
                    guard let found = EllipticalAperture(pixels, x: x, y: y, ellipse, radius: radius) else {
                        #expect(radius * ellipse.a > 1e8, "\(what): \(radius) times \(ellipse)")
                        return
                    }
                    #expect(status == 0)
                    #expect(
                        isSame(found.sum, sum) && isSame(found.error, error) && isSame(found.area, area),
                        "\(what): \(radius) times \(ellipse) around \(x), \(y)")
                }
            }
        }
    }

    @Test func `windowed positions are those of SEP, bit by bit`() {
        forEachImage(seeds: 1...40) { image, random, what in
            for _ in 0..<10 {
                let ((startX, startY), sigma) = (image.place(&random), radius(&random) / 4)
                image.withPixels { pixels, image in
                    var (x, y, rounds, flag) = (0.0, 0.0, Int32(0), Int16(0))
                    let status = sep_windowed(&image, startX, startY, sigma, 5, 0, &x, &y, &rounds, &flag)
                    let found = WindowedPosition(pixels, x: startX, y: startY, sigma: sigma)
                    #expect(status == 0)
                    #expect(
                        found.map { isSame($0.x, x) && isSame($0.y, y) } == true,
                        "\(what): \(sigma) around \(startX), \(startY)")
                }
            }
        }
    }

    @Test func `radii of a share of the light are those of SEP, bit by bit`() {
        forEachImage(seeds: 1...40) { image, random, what in
            for _ in 0..<20 {
                let ((x, y), limit) = (image.place(&random), max(radius(&random), 0.001))
                let light = random.uniform() < 0.1 ? 0 : 4000 * random.uniform(-0.1, 1) * random.uniform()
                image.withPixels { pixels, image in
                    var (total, share, radius, flag) = (light, 0.5, 0.0, Int16(0))
                    let status = sep_flux_radius(&image, x, y, limit, 0, 5, 0, &total, &share, 1, &radius, &flag)
                    let found = CurveOfGrowth(pixels, x: x, y: y, limit: limit)?.radius(of: 0.5 * light)
                    #expect(status == 0)
                    #expect(
                        found.map { isSame($0, radius) } == true, "\(what): \(light) in \(limit) around \(x), \(y)")
                }
            }
        }
    }

    @Test func `Kron moments are those of SEP, bit by bit`() {
        forEachImage(seeds: 1...40) { image, random, what in
            var image = image
            let masked = random.uniform() < 0.5 ? 0.1 : 0
            image.mask = image.values.map { _ in random.uniform() < masked ? 1 : 0 }
            image.segments = image.values.map { _ in
                random.uniform() < 0.7 ? 0 : random.uniform() < 0.3 ? .max : Int32(random.uniform(1, 5))
            }
            for _ in 0..<20 {
                let ((x, y), radius, ellipse) = (image.place(&random), radius(&random), ellipse(&random))
                image.mask.withUnsafeBufferPointer { mask in
                    image.segments.withUnsafeBufferPointer { segments in
                        guard let mask = mask.baseAddress, let segments = segments.baseAddress else { return }
                        image.withPixels { pixels, image in
                            image.mask = UnsafeRawPointer(mask)
                            image.mdtype = SEP_TBYTE
                            image.segmap = UnsafeRawPointer(segments)
                            image.sdtype = SEP_TINT
                            var (moment, flag) = (0.0, Int16(0))
                            let status = sep_kron_radius(
                                &image, x, y, ellipse.cxx, ellipse.cyy, ellipse.cxy, radius, 3, &moment, &flag)
                            let own = KronMoment.Pixels(
                                values: pixels.values, mask: mask, segments: segments, width: pixels.width,
                                height: pixels.height)
                            guard let found = KronMoment(own, x: x, y: y, ellipse, radius: radius, id: 3) else {
                                #expect(radius * ellipse.a > 1e8, "\(what): \(radius) times \(ellipse)")
                                return
                            }
                            #expect(status == 0)
                            #expect(
                                isSame(found.value, moment), "\(what): \(radius) times \(ellipse) around \(x), \(y)")
                        }
                    }
                }
            }
        }
    }

    @Test func `an aperture without a size or beyond all images is not measured`() {
        var random = RandomStream(seed: 3, purpose: 7)
        SEPImage(SEPImage.kinds[0], width: 20, height: 20, &random).withPixels { pixels, _ in
            for radius in [-1, .nan, .infinity, 2e9] {
                #expect(CircularAperture(pixels, x: 9, y: 9, radius: radius) == nil)
                #expect(WindowedPosition(pixels, x: 9, y: 9, sigma: radius) == nil)
                #expect(CurveOfGrowth(pixels, x: 9, y: 9, limit: radius) == nil)
                #expect(EllipticalAperture(pixels, x: 9, y: 9, ellipse(&random), radius: radius) == nil)
            }
            for place in [Double.nan, .infinity, -1e300] {
                #expect(CircularAperture(pixels, x: place, y: 9, radius: 5)?.area == 0)
                #expect(CircularAperture(pixels, x: 9, y: place, radius: 5)?.area == 0)
                #expect(CurveOfGrowth(pixels, x: place, y: 9, limit: 5) == nil)
            }
        }
    }
}
