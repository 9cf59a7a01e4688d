import Fixtures
import Testing

@testable import Sky

@Suite struct DifferenceScanTests {
    typealias Star = PaintedEpoch.Star
    let study = EpochStudy()
    private let old = PaintedEpoch()

    /// Another night: worse seeing, a little elsewhere, turned, through thin cloud.
    private var night: PaintedEpoch {
        var epoch = PaintedEpoch()
        (epoch.fwhm, epoch.dx, epoch.dy, epoch.turn) = (3.8, 6.3, -4.6, 0.2)
        (epoch.transparency, epoch.seed) = (0.8, 2)
        return epoch
    }

    @Test(arguments: [2.7, 3.8]) func `the same sky shows no change, in better seeing or worse`(fwhm: Double) throws {
        var new = night
        new.fwhm = fwhm
        let comparison = try study.compare(new, with: old)
        #expect(comparison.changes.isEmpty, "\(comparison.changes)")
        #expect(comparison.matches > 60 && comparison.usesSky)
        #expect(comparison.scatter < 0.2)
        #expect(abs(comparison.ratio - 0.8) < 0.02)
        #expect(comparison.coverage > 0.9 && comparison.coverage < 1)
    }

    @Test func `a new star is found with its position, its flux and its earlier limit`() throws {
        var new = night
        let star = PaintedEpoch.lonely(x: 201.4, y: 150.7, flux: 3000)
        new.extra = [star]
        let comparison = try study.compare(new, with: old)
        let change = try #require(comparison.near(star, in: new).first)
        #expect(comparison.changes.count == 1)
        #expect(change.kind == .appeared && change.significance > 6)
        let place = new.place(star)
        #expect(abs(change.x - 1 - place.x) < 0.5 && abs(change.y - 1 - place.y) < 0.5)
        #expect(abs(change.xOld - 1 - star.x) < 0.6 && abs(change.yOld - 1 - star.y) < 0.6)
        #expect(abs(change.fluxDifference / (0.8 * star.flux) - 0.95) < 0.25)
        #expect(abs(change.fluxOld) < 4 * change.fluxOldError)
        let magnitude = try #require(EpochChange.magnitude(change.fluxOld, change.fluxOldError, zeroPoint: 25))
        #expect(magnitude.error == nil && magnitude.value < 25)
        let alpha = try #require(change.alpha)
        #expect(abs(alpha - 150) < 0.05)
    }

    @Test func `a star that is gone is found where it was`() throws {
        var before = old
        let star = PaintedEpoch.lonely(x: 240.2, y: 260.9, flux: 4000)
        before.extra = [star]
        let comparison = try study.compare(night, with: before)
        let change = try #require(comparison.near(star, in: night).first, "\(comparison)")
        #expect(comparison.changes.count == 1)
        #expect(change.kind == .vanished && change.significance < -6)
    }

    @Test func `a new star in the wings of another one is found`() throws {
        var (before, after) = (old, night)
        let bright = Star(x: 180, y: 210, flux: 60_000)
        before.field.append(bright)
        after.field.append(bright)
        let hidden = Star(x: 183.5, y: 211.5, flux: 6000)
        after.extra = [hidden]
        let comparison = try study.compare(after, with: before)
        #expect(comparison.near(hidden, in: after).count == 1)
        #expect(comparison.changes.count == 1)
    }

    @Test(arguments: [0.5, 2.0]) func `a star whose brightness differs is reported as changed`(factor: Double) throws {
        var (before, after) = (old, night)
        let star = PaintedEpoch.lonely(x: 300.3, y: 120.6, flux: 8000)
        before.extra = [star]
        after.extra = [Star(x: star.x, y: star.y, flux: star.flux * factor)]
        let comparison = try study.compare(after, with: before)
        let change = try #require(comparison.near(star, in: after).first)
        #expect(change.kind == .changed && change.isOnSource)
        #expect((change.fluxDifference > 0) == (factor > 1))
        #expect(abs(change.fluxNew / change.fluxOld / factor - 1) < 0.15)
    }

    @Test func `cosmic rays, bad columns and holes are not reported`() throws {
        var new = night
        new.spoil = { canvas in
            var random = RandomStream(seed: 8, purpose: 1)
            for _ in 0..<40 {
                let (x, y) = (Int(random.uniform(5, 415)), Int(random.uniform(5, 415)))
                for step in 0..<Int(random.uniform(1, 4)) {
                    canvas.pixels[y * canvas.width + min(x + step, 419)] += Float(random.uniform(400, 6000))
                }
            }
            for y in 0..<canvas.height { canvas.pixels[y * canvas.width + 77] = .nan }
            for y in 100..<130 { for x in 200..<240 { canvas.pixels[y * canvas.width + x] = .nan } }
        }
        let comparison = try study.compare(new, with: old)
        #expect(comparison.changes.isEmpty, "\(comparison.changes)")
    }

    @Test(arguments: [false, true]) func `resampled cosmic rays are not reported`(inOld: Bool) throws {
        func spoil(_ canvas: inout PixelCanvas) {
            var random = RandomStream(seed: 18, purpose: 1)
            for _ in 0..<60 {
                let (x, y) = (Int(random.uniform(10, 405)), Int(random.uniform(10, 405)))
                let (light, slope) = (Float(random.uniform(600, 4000)), random.uniform(-1, 1))
                for step in 0..<Int(random.uniform(2, 5)) {
                    canvas.pixels[(y + Int((slope * Double(step)).rounded())) * canvas.width + x + step] += light
                }
            }
            // By half a pixel each way, between the values of a cubic of four.
            let (source, width) = (canvas.pixels, canvas.width)
            let weights: [Float] = [-0.0625, 0.5625, 0.5625, -0.0625]
            for y in 1..<canvas.height - 2 {
                for x in 1..<width - 2 {
                    var sum: Float = 0
                    for j in 0..<4 {
                        for i in 0..<4 { sum += weights[i] * weights[j] * source[(y + j - 1) * width + x + i - 1] }
                    }
                    canvas.pixels[y * width + x] = sum
                }
            }
        }
        var (before, after) = (old, night)
        if inOld { before.spoil = spoil } else { after.spoil = spoil }
        let comparison = try study.compare(after, with: before)
        #expect(comparison.changes.count <= 1, "\(comparison.changes)")
        #expect(comparison.refused[.shape] > 5)
    }

    @Test func `the edge of a moving shadow is not reported as a row of sources`() throws {
        func shadow(_ canvas: inout PixelCanvas, from distance: Double) {
            for y in 0..<canvas.height {
                for x in 0..<canvas.width where 0.9 * Double(x) + 0.43 * Double(y) > distance {
                    canvas.pixels[y * canvas.width + x] -= 90
                }
            }
        }
        // The telescope points a little elsewhere, the shadow stays nearly where it was on the detector.
        var (before, after) = (old, night)
        before.spoil = { shadow(&$0, from: 300) }
        after.spoil = { shadow(&$0, from: 300.8) }
        let star = PaintedEpoch.lonely(x: 120.4, y: 150.7, flux: 6000)
        after.extra = [star]
        let comparison = try study.compare(after, with: before)
        #expect(comparison.near(star, in: after).count == 1)
        #expect(comparison.changes.count == 1, "\(comparison.changes)")
        #expect(comparison.refused[.surroundings] > 3)
    }

    @Test(arguments: [0.0, 0.3])
    func `hot pixels that are sharp in only one image are not reported`(shift: Double) throws {
        // The same pixels of the detector in both, and hardly another pointing, as of frames that are taken one after the other.
        var (before, after) = (PaintedEpoch(), PaintedEpoch())
        (before.fwhm, after.fwhm, after.dx, after.seed) = (2.1, 2.1, shift, 2)
        func spoil(_ seed: UInt64) -> (inout PixelCanvas) -> Void {
            { canvas in
                var (places, scatter) = (RandomStream(seed: 5, purpose: 2), RandomStream(seed: seed, purpose: 3))
                for _ in 0..<200 {
                    let (x, y) = (Int(places.uniform(8, 410)), Int(places.uniform(8, 410)))
                    canvas.pixels[y * canvas.width + x] += Float(
                        places.uniform(200, 400) * (1 + 0.15 * scatter.uniform(-1, 1)))
                }
            }
        }
        (before.spoil, after.spoil) = (spoil(1), spoil(2))
        let comparison = try study.compare(after, with: before)
        #expect(comparison.changes.count <= 1, "\(comparison.changes)")
        #expect(comparison.refused[.shape] > 3)
    }

    @Test func `new stars of undersampled frames are found wherever in a pixel they lie`() throws {
        var (before, after) = (old, night)
        (before.fwhm, after.fwhm, after.transparency) = (1.4, 1.3, 1)
        let lonely = (0..<12).map { index in
            PaintedEpoch.lonely(
                x: 60 + Double(index % 4) * 95.27, y: 70 + Double(index / 4) * 130.61, flux: 1500 + 900 * Double(index))
        }
        after.extra = lonely
        let comparison = try study.compare(after, with: before)
        let found = lonely.count { comparison.near($0, in: after, radius: 1.5).count == 1 }
        #expect(
            found >= 11 && comparison.changes.count <= found + 1, "\(found) of 12, \(comparison.changes.count) rows")
    }

    @Test func `sources outside the other image are not reported as new`() throws {
        var new = PaintedEpoch()
        (new.dx, new.dy, new.seed) = (120, 0, 9)
        // The new image shows stars outside the old one.
        new.field += (0..<20).map { Star(x: -100 + 4.7 * Double($0), y: 15 + 19.3 * Double($0), flux: 20_000) }
        let comparison = try study.compare(new, with: old)
        #expect(comparison.changes.isEmpty, "\(comparison.changes)")
        #expect(comparison.coverage < 0.75)
    }

    @Test func `saturated stars are left alone`() throws {
        var (before, after) = (old, night)
        let star = Star(x: 150, y: 150, flux: 6_000_000)
        before.field.append(star)
        after.field.append(star)
        let comparison = try study.compare(after, with: before)
        #expect(comparison.near(star, in: after, radius: 6).isEmpty)
    }

    @Test func `sectors of any size list the same`() throws {
        var new = night
        new.extra = PaintedEpoch.stars(25, seed: 99).map { Star(x: $0.x, y: $0.y, flux: 9000) }
        let folder = TemporaryFolder()
        let (first, second) = (folder.write(new.fits(), "new.fits"), folder.write(old.fits(), "old.fits"))
        func kinds(_ size: Int?) throws -> [(x: Double, y: Double)] {
            try ScannedEpoch(first, sector: size).compared(with: ScannedEpoch(second, sector: size))
                .changes.map { ($0.x, $0.y) }
        }
        let (whole, parts) = (try kinds(nil), try kinds(128))
        #expect(whole.count >= 20)
        #expect(whole.count == parts.count)
        for place in whole {
            #expect(parts.contains { abs($0.x - place.x) < 0.3 && abs($0.y - place.y) < 0.3 })
        }
    }
}
