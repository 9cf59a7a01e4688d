import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct SharpPixelsTests {
    private let side = 200

    /// Noise of one unit, and stars of a width, brighter and brighter, at all places within a pixel.
    private func field(fwhm: Double, moffat: Bool = false, seed: UInt64 = 3) -> [Float] {
        var random = RandomStream(seed: seed, purpose: 9)
        var values = (0..<side * side).map { _ in random.normal() }
        let sigma = fwhm / Gaussian.fwhm
        for number in 0..<36 {
            let (x, y) = (
                15 + 33 * Double(number % 6) + random.uniform(), 15 + 33 * Double(number / 6) + random.uniform()
            )
            let flux = 60 * pow(10, 3.5 * Double(number) / 36) * sigma * sigma
            for row in max(0, Int(y) - 14)...min(side - 1, Int(y) + 14) {
                for column in max(0, Int(x) - 14)...min(side - 1, Int(x) + 14) {
                    let square = (Double(column) - x) * (Double(column) - x) + (Double(row) - y) * (Double(row) - y)
                    let alpha = fwhm / (2 * (pow(2, 1 / 2.5) - 1).squareRoot())
                    let light =
                        moffat
                        ? flux * 1.5 / (.pi * alpha * alpha) * pow(1 + square / (alpha * alpha), -2.5)
                        : flux / (2 * .pi * sigma * sigma) * exp(-square / (2 * sigma * sigma))
                    values[row * side + column] += light + random.normal() * max(light, 0).squareRoot()
                }
            }
        }
        return values.map { Float($0) }
    }

    private func marked(_ values: [Float], fwhm: Double) -> (values: [Float], sharp: Set<Int>) {
        var (values, mask) = (values, [PixelMask](repeating: [], count: values.count))
        SharpPixels(fwhm: fwhm, gain: 1).clean(&values, &mask, width: side)
        return (values, Set(mask.indices.filter { mask[$0].contains(.sharp) }))
    }

    @Test(arguments: [1.3, 1.6, 2, 2.5, 3.2, 5], [false, true])
    func `no star is marked as sharp, wherever in its pixel it lies`(fwhm: Double, moffat: Bool) {
        #expect(marked(field(fwhm: fwhm, moffat: moffat), fwhm: fwhm).sharp.isEmpty)
    }

    /// The seeing of a part of the image may be better than that of the whole.
    @Test(arguments: [2, 3.2, 5]) func `a star that is a fifth narrower is not marked as sharp`(fwhm: Double) {
        #expect(marked(field(fwhm: 0.8 * fwhm), fwhm: fwhm).sharp.isEmpty)
    }

    @Test(arguments: [2, 2.5, 3.2, 5]) func `hot pixels are marked, and replaced by their surroundings`(fwhm: Double) {
        let clean = field(fwhm: fwhm)
        var random = RandomStream(seed: 8, purpose: 10)
        var (spoilt, hot) = (clean, Set<Int>())
        for _ in 0..<400 {
            let place = Int(random.uniform(0, Double(side * side - 1)))
            hot.insert(place)
            spoilt[place] += Float(random.uniform(40, 4000))
        }
        let (values, sharp) = marked(spoilt, fwhm: fwhm)
        // Some lie on bright stars, where they cannot be recognised.
        #expect(sharp.intersection(hot).count > 380 && sharp.subtracting(hot).count < 4)
        let left = sharp.intersection(hot).count { abs(values[$0] - clean[$0]) > 10 + 0.5 * abs(clean[$0]) }
        #expect(left < 20)
    }

    @Test func `a cosmic ray of several pixels is taken out whole`() {
        let clean = field(fwhm: 3)
        var spoilt = clean
        // Two by three, a track, and a corner.
        // The block is bright: fainter ones may be a narrow star's photons, and are left to the shape of what remains.
        let rays = [
            [10 * side + 100, 10 * side + 101, 10 * side + 102, 11 * side + 100, 11 * side + 101, 11 * side + 102],
            (0..<7).map { (30 + $0) * side + 30 + $0 }, [50 * side + 150, 51 * side + 150, 51 * side + 151],
        ]
        for place in rays.joined() { spoilt[place] += 5000 }
        let (values, sharp) = marked(spoilt, fwhm: 3)
        #expect(Set(rays.joined()).subtracting(sharp).isEmpty)
        #expect(rays.joined().allSatisfy { abs(values[$0]) < 600 })
    }

    @Test func `frames of nothing, of one value and without numbers are left as they are`() {
        for value in [Float(0), 7, .leastNonzeroMagnitude] {
            let values = [Float](repeating: value, count: side * side)
            #expect(marked(values, fwhm: 3).values == values)
        }
        var mask = [PixelMask](repeating: .missing, count: 12)
        var values = [Float](repeating: 0, count: 12)
        SharpPixels(fwhm: 1e-9, gain: 0).clean(&values, &mask, width: 4)
        #expect(values.allSatisfy { $0 == 0 })
    }
}
