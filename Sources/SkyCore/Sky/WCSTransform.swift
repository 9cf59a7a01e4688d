import CWCS
import Glibc

/// Pixel to sky by the image's own header, by wcslib: every projection it knows, SIP and TPV distortions included.
///
/// Built from the full frame's header and asked in full-frame pixels, never in a sector's: distortions are
/// polynomials around the full frame's `CRPIX`.
package final class WCSTransform {
    private var all: UnsafeMutablePointer<wcsprm>?
    private var count: Int32
    private let chosen: UnsafeMutablePointer<wcsprm>
    private let axes: Int

    /// The first celestial coordinate system of a header, the unnamed one before alternatives; `nil` without one.
    ///
    /// - Parameters:
    ///   - header: `cards` cards of 80 characters, without line ends. wcslib does not change them.
    init?(header: UnsafeMutablePointer<CChar>, cards: Int32) {
        // Some headers keep wcslib busy for ever.
        ProcessorLimit.begin("wcslib does not come to an end with the coordinates in the header")
        defer { ProcessorLimit.end() }
        var rejected: Int32 = 0
        var count: Int32 = 0
        var all: UnsafeMutablePointer<wcsprm>?
        guard wcspih(header, cards, WCSHDR_all, 0, &rejected, &count, &all) == 0, let all, count > 0 else {
            wcsvfree(&count, &all)
            return nil
        }
        var found: UnsafeMutablePointer<wcsprm>?
        for index in 0..<Int(count) {
            // Repairs what old writers got wrong (units, dates, NCP, CD beside CDELT); its failure is not fatal.
            var repairs = [Int32](repeating: 0, count: Int(NWCSFIX))
            wcsfix(7, nil, all + index, &repairs)
            guard wcsset(all + index) == 0 else { continue }
            let system = (all + index).pointee
            if system.lng >= 0, system.lat >= 0, system.naxis >= 2, system.naxis <= 16, Self.isJ2000(system) {
                found = all + index
                break
            }
        }
        guard let found else {
            var list: UnsafeMutablePointer<wcsprm>? = all
            wcsvfree(&count, &list)
            return nil
        }
        self.all = all
        self.count = count
        chosen = found
        axes = Int(found.pointee.naxis)
    }

    /// Whether the coordinates are what `ALPHA_J2000` says. Galactic ones and those of other equinoxes are not: a
    /// source without coordinates is better than one half a degree off.
    private static func isJ2000(_ system: wcsprm) -> Bool {
        let type = withUnsafeBytes(of: system.lngtyp) { String(decoding: $0.prefix { $0 > 0x20 }, as: UTF8.self) }
        let frame = withUnsafeBytes(of: system.radesys) { String(decoding: $0.prefix { $0 > 0x20 }, as: UTF8.self) }
        // wcslib has a huge number where the header has none; ICRS has no equinox whatever the header says.
        let equinox = system.equinox
        let isSet = equinox.isFinite && abs(equinox) < 1e5
        return type == "RA" && !frame.hasPrefix("FK4") && (frame == "ICRS" || !isSet || abs(equinox - 2000) < 0.01)
    }

    deinit { wcsvfree(&count, &all) }

    /// Right ascension and declination in degrees of a pixel counted from 1, the first pixel's centre at (1, 1);
    /// `nil` where the projection has no sky.
    package func sky(x: Double, y: Double) -> (alpha: Double, delta: Double)? {
        sky([(x, y)])[0]
    }

    /// The same for many pixels at once.
    package func sky(_ points: [(x: Double, y: Double)]) -> [(alpha: Double, delta: Double)?] {
        guard !points.isEmpty else { return [] }
        // Axes beyond the second have one plane in our images: its pixel is 1.
        var pixels = [Double](repeating: 1, count: points.count * axes)
        for (index, point) in points.enumerated() {
            pixels[index * axes] = point.x
            pixels[index * axes + 1] = point.y
        }
        var intermediate = [Double](repeating: 0, count: pixels.count)
        var phi = [Double](repeating: 0, count: points.count)
        var theta = phi
        var world = intermediate
        var bad = [Int32](repeating: 0, count: points.count)
        let status = wcsp2s(
            chosen, Int32(points.count), Int32(axes), &pixels, &intermediate, &phi, &theta, &world, &bad)
        // 8 is "some points are invalid", which `bad` names; any other failure leaves nothing valid.
        guard status == 0 || status == 8 else { return Array(repeating: nil, count: points.count) }
        let longitude = Int(chosen.pointee.lng)
        let latitude = Int(chosen.pointee.lat)
        return points.indices.map { index in
            var alpha = world[index * axes + longitude]
            let delta = world[index * axes + latitude]
            guard bad[index] == 0, alpha.isFinite, delta.isFinite else { return nil }
            alpha = fmod(alpha, 360)
            return (alpha: alpha < 0 ? alpha + 360 : alpha, delta: delta)
        }
    }
}
