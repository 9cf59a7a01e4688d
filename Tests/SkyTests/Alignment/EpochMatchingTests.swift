import Base
import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct EpochMatchingTests {
    private func sources(_ count: Int, seed: UInt64) -> [Source] {
        var random = RandomStream(seed: seed, purpose: 3)
        return (0..<count).map { _ in
            var source = Source(x: random.uniform(1, 2000), y: random.uniform(1, 2000), sector: 0)
            source.fluxAuto = 1000 * pow(10, 2 * random.uniform())
            source.fluxErrorAuto = 10
            (source.fwhm, source.peak, source.a, source.b) = (3, source.fluxAuto / 10, 1.3, 1.3)
            return source
        }
    }

    private func info(_ hasWCS: Bool) -> ImageInfo {
        ImageInfo(width: 2000, height: 2000, bitpix: -32, hdu: 0, hasWCS: hasWCS)
    }

    /// The sources as another exposure sees them, counted from 1.
    private func seen(_ sources: [Source], dx: Double, dy: Double, turn: Double, noise: Double) -> [Source] {
        var random = RandomStream(seed: 4, purpose: 4)
        let (c, s) = (cos(turn * .pi / 180), sin(turn * .pi / 180))
        return sources.map { source in
            var moved = source
            (moved.xWindow, moved.yWindow) = (
                c * source.x - s * source.y + dx + noise * random.normal(),
                s * source.x + c * source.y + dy + noise * random.normal()
            )
            (moved.x, moved.y) = (moved.xWindow, moved.yWindow)
            return moved
        }
    }

    @Test(arguments: [(0.4, -0.3, 0.0), (310, -120, 0), (40, 60, 7), (2100, 2050, 180)])
    func `without coordinates the pattern of the stars gives shift and rotation`(dx: Double, dy: Double, turn: Double)
        throws
    {
        let old = sources(300, seed: 1)
        let new = seen(old, dx: dx, dy: dy, turn: turn, noise: 0.05)
        let matching = try EpochMatching(new: new, old: old, newInfo: info(false), oldInfo: info(false))
        #expect(matching.pairs.count > 290)
        #expect(matching.pairs.allSatisfy { $0.new == $0.old })
        #expect(matching.alignment.scatter < 0.08)
        let place = matching.alignment.old(x: new[10].x - 1, y: new[10].y - 1)
        #expect(abs(place.x + 1 - old[10].x) < 0.2 && abs(place.y + 1 - old[10].y) < 0.2)
    }

    @Test func `the coordinates match stars that lie on other pixels`() throws {
        let old = sources(300, seed: 2).map { withSky($0, $0) }
        let new = zip(seen(old, dx: 700, dy: -300, turn: 40, noise: 0.05), old).map { withSky($0, $1) }
        let matching = try EpochMatching(new: new, old: old, newInfo: info(true), oldInfo: info(true))
        #expect(matching.pairs.count > 290)
        #expect(matching.alignment.usesSky)
    }

    /// The sky over the pixels of `place`.
    private func withSky(_ source: Source, _ place: Source) -> Source {
        var source = source
        source.alphaWindow = 359.9 + place.x / 7200
        if let alpha = source.alphaWindow, alpha >= 360 { source.alphaWindow = alpha - 360 }
        source.deltaWindow = place.y / 7200
        return source
    }

    @Test func `images with no stars in common are refused with a reason`() throws {
        let (some, others) = (sources(200, seed: 5), sources(200, seed: 6))
        let error = SkyError.thrown { () throws(SkyError) in
            try EpochMatching(new: some, old: others, newInfo: info(false), oldInfo: info(false))
        }
        #expect(error?.message.contains("no stars in common") == true)
    }

    /// This is an image after a meridian flip for which the solver found no coordinates.
    @Test func `the pattern of the stars decides if only one image has coordinates`() throws {
        let old = sources(300, seed: 7)
        let new = seen(old, dx: 2001, dy: 2001, turn: 180, noise: 0.05).map { withSky($0, $0) }
        let matching = try EpochMatching(new: new, old: old, newInfo: info(true), oldInfo: info(false))
        #expect(matching.pairs.count > 290 && !matching.alignment.usesSky)
    }

    // MARK: - Hot pixels

    /// Sources at the same pixels in every exposure, brighter than most stars. `isSharp` as long as nobody has smoothed them.
    private func hot(_ count: Int, isSharp: Bool) -> [Source] {
        sources(count, seed: 40).map { source in
            var hot = source
            hot.fluxAuto *= 10
            (hot.fwhm, hot.peak) = isSharp ? (0, 0.9 * hot.fluxAuto) : (3, hot.fluxAuto / 10)
            return hot
        }
    }

    @Test(arguments: [(100, true), (1000, true), (3000, true), (100, false), (250, false)])
    func `the alignment follows dithered stars and not hot pixels`(count: Int, isSharp: Bool) throws {
        let stars = sources(300, seed: 31)
        let new = seen(stars, dx: 9, dy: -6, turn: 0, noise: 0.05)
        let spots = hot(count, isSharp: isSharp)
        let matching = try EpochMatching(
            new: new + spots, old: stars + spots, newInfo: info(false), oldInfo: info(false))
        let place = matching.alignment.old(x: 1008, y: 993)
        #expect(abs(place.x - 999) < 0.1 && abs(place.y - 999) < 0.1)
        #expect(matching.pairs.count > 270 && matching.pairs.allSatisfy { $0.new < 300 })
        #expect(matching.agreement.leftOut >= 2 * count - 20 && matching.agreement.doubts.isEmpty)
    }

    @Test func `stars that stay at their pixels are not taken for hot pixels`() throws {
        let stars = sources(300, seed: 32)
        let new = seen(stars, dx: 0.1, dy: 0, turn: 0, noise: 0.05)
        let matching = try EpochMatching(new: new, old: stars, newInfo: info(false), oldInfo: info(false))
        #expect(matching.pairs.count > 290 && matching.agreement.unmatchedNew < 5)
    }

    @Test func `hot pixels are left out if the coordinates show that the telescope moved`() throws {
        let stars = sources(200, seed: 33)
        let spots = hot(400, isSharp: false)
        let old = (stars + spots).map { withSky($0, $0) }
        let new =
            zip(seen(stars, dx: 5, dy: 4, turn: 0, noise: 0.05), stars).map { withSky($0, $1) }
            + spots.map { spot in
                var place = spot
                (place.x, place.y) = (spot.x - 5, spot.y - 4)
                return withSky(spot, place)
            }
        let matching = try EpochMatching(new: new, old: old, newInfo: info(true), oldInfo: info(true))
        #expect(matching.pairs.count > 190 && matching.pairs.allSatisfy { $0.new < 200 && $0.old < 200 })
    }

    // MARK: - Coordinates

    /// The new image's coordinates are wrong by so many arcseconds; half an arcsecond is a pixel.
    private func matching(wrongBy arcseconds: Double, _ error: Double?) throws -> EpochMatching {
        let stars = sources(300, seed: 34)
        let old = stars.map { withSky($0, $0) }
        let new = stars.map { star in
            var place = star
            place.x += 2 * arcseconds
            return withSky(star, place)
        }
        return try EpochMatching(
            new: new, old: old, newInfo: info(true), oldInfo: info(true), coordinateError: error)
    }

    @Test func `stars may differ from the coordinates only up to a limit`() throws {
        #expect(try matching(wrongBy: 15, nil).pairs.count > 290)
        let error = #expect(throws: SkyError.self) { try matching(wrongBy: 60, nil) }
        #expect(error?.message.contains("60 arcsec") == true && error?.message.contains("--coordinate-error") == true)
        #expect(try matching(wrongBy: 60, 80).pairs.count > 290)
    }

    @Test func `frames on opposite sides of the sky are refused as not overlapping`() {
        let old = sources(30, seed: 2).map { withSky($0, $0) }
        var new = old
        for index in new.indices { new[index].alphaWindow = (new[index].alphaWindow ?? 0) - 180 }
        let error = SkyError.thrown { () throws(SkyError) in
            _ = try EpochMatching(new: new, old: old, newInfo: info(true), oldInfo: info(true))
        }
        #expect(error?.message.contains("opposite parts of the sky") == true, "\(String(describing: error))")
    }

    @Test func `frames that lie apart are refused as not overlapping`() {
        let stars = sources(300, seed: 35)
        let old = stars.map { withSky($0, $0) }
        let new = sources(300, seed: 36).map { star in
            var place = star
            place.y += 5400
            return withSky(star, place)
        }
        let error = SkyError.thrown { () throws(SkyError) in
            try EpochMatching(new: new, old: old, newInfo: info(true), oldInfo: info(true))
        }
        #expect(error?.message.contains("do not overlap") == true && error?.message.contains("arcsec apart") == true)
    }

    @Test func `a mirror image is aligned by its coordinates`() throws {
        let stars = sources(300, seed: 37)
        let old = stars.map { withSky($0, $0) }
        let new = stars.map { star in
            var seen = star
            (seen.x, seen.xWindow) = (2001 - star.x, 2001 - star.x)
            (seen.y, seen.yWindow) = (star.y, star.y)
            return withSky(seen, star)
        }
        let matching = try EpochMatching(new: new, old: old, newInfo: info(true), oldInfo: info(true))
        #expect(matching.pairs.count > 290)
    }

    // MARK: - Agreement

    @Test func `a copy of an image is distinguished from another exposure`() throws {
        let stars = sources(200, seed: 38)
        let matching = try EpochMatching(new: stars, old: stars, newInfo: info(false), oldInfo: info(false))
        #expect(matching.agreement.doubts.contains { $0.contains("copies of one") })
    }

    @Test func `few stars in common give a caution with their share`() throws {
        let stars = sources(300, seed: 39)
        let others = seen(stars, dx: 3, dy: 2, turn: 0, noise: 0.05).prefix(110) + sources(190, seed: 41)
        let matching = try EpochMatching(new: Array(others), old: stars, newInfo: info(false), oldInfo: info(false))
        #expect(matching.agreement.unmatchedNew > 150)
        #expect(matching.agreement.doubts.contains { $0.contains("have a partner") })
    }

    @Test func `empty catalogues and positions that are not numbers are refused with a reason`() {
        var wrong = sources(20, seed: 8)
        for index in wrong.indices { wrong[index].xWindow = .nan }
        for (new, old) in [([], sources(20, seed: 8)), (sources(20, seed: 8), []), ([], []), (wrong, wrong)] {
            let pair = SkyError.thrown { () throws(SkyError) in
                try EpochPair(
                    new: Epoch(catalogue: catalogue(new)), old: Epoch(catalogue: catalogue(old)))
            }
            #expect(pair?.kind == .badInput)
        }
    }

    private func catalogue(_ sources: [Source]) -> Catalogue {
        var catalogue = Catalogue(merging: [], info: info(false))
        catalogue.sources = sources
        return catalogue
    }

    @Test func `the flux ratio is that of most stars, whatever some of them do`() throws {
        let old = sources(400, seed: 9)
        var new = old
        for index in new.indices { new[index].fluxAuto *= index % 5 == 0 ? 3 : 0.7 + 1e-4 * old[index].x }
        let pairs = new.indices.map { EpochMatching.Pair(new: $0, old: $0) }
        let scale = try FluxScale(pairs: pairs, new: new, old: old)
        #expect(abs(scale.ratio(x: 0, y: 1000) - 0.7) < 0.01)
        #expect(abs(scale.ratio(x: 2000, y: 1000) - 0.9) < 0.01)
        #expect(scale.floor < 0.01)
    }

    @Test func `the order of the sources does not matter`() throws {
        let old = sources(300, seed: 10)
        let new = seen(old, dx: 3, dy: 1, turn: 0.1, noise: 0.1)
        let one = try EpochPair(new: Epoch(catalogue: catalogue(new)), old: Epoch(catalogue: catalogue(old)))
        let two = try EpochPair(
            new: Epoch(catalogue: catalogue(new.reversed())),
            old: Epoch(catalogue: catalogue(Array(old[100...] + old[..<100]))))
        #expect(one == two)
    }
}
