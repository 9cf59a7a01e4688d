import Glibc

/// The pixels of a frame on the gnomonic projection `TAN` (`GnomonicProjection`) around a reference point in its
/// middle.
struct TangentPlane {
    /// Right ascension and declination of the reference point in degrees (`CRVAL`).
    let alpha: Double
    let delta: Double
    /// The reference pixel, counted from 1 (`CRPIX`).
    let x: Double
    let y: Double
    /// Degrees per pixel (`CD1_1`, `CD1_2`, `CD2_1`, `CD2_2`): north up and east left, turned by the rotation.
    let cd: (xx: Double, xy: Double, yx: Double, yy: Double)

    init(_ sky: SkySynthesis, dither: (x: Double, y: Double) = (0, 0)) {
        alpha = sky.rightAscension
        delta = sky.declination
        x = Double(sky.width) / 2 + 0.5 + dither.x
        y = Double(sky.height) / 2 + 0.5 + dither.y
        let scale = sky.pixelScale / 3600
        let angle = sky.rotation * .pi / 180
        cd = (-scale * cos(angle), scale * sin(angle), scale * sin(angle), scale * cos(angle))
    }

    /// Right ascension (0..<360) and declination in degrees of a pixel position counted from 1.
    func position(x px: Double, y py: Double) -> (alpha: Double, delta: Double) {
        let radian = Double.pi / 180
        let dx = px - x
        let dy = py - y
        let xi = (cd.xx * dx + cd.xy * dy) * radian
        let eta = (cd.yx * dx + cd.yy * dy) * radian
        let (s, c) = (sin(delta * radian), cos(delta * radian))
        let east = xi
        let meridian = c - eta * s
        let angle = alpha + atan2(east, meridian) / radian
        let turned = angle.truncatingRemainder(dividingBy: 360)
        let height = atan2(s + eta * c, (east * east + meridian * meridian).squareRoot()) / radian
        return (turned < 0 ? turned + 360 : turned, height)
    }

    /// The pixel position, counted from 1, of a place on the sky in degrees; `nil` for the far half of the sky, which the
    /// projection does not cover.
    func pixel(alpha lon: Double, delta lat: Double) -> (x: Double, y: Double)? {
        let radian = Double.pi / 180
        let (east, north, depth) = GnomonicProjection(alpha: alpha, delta: delta).direction(alpha: lon, delta: lat)
        guard depth > 1e-6 else { return nil }
        let xi = east / (depth * radian)
        let eta = north / (depth * radian)
        let determinant = cd.xx * cd.yy - cd.xy * cd.yx
        return (
            x + (cd.yy * xi - cd.xy * eta) / determinant, y + (cd.xx * eta - cd.yx * xi) / determinant
        )
    }

    /// The cards that describe the projection.
    var cards: [FITSCard] {
        [
            FITSCard("RADESYS", .text("ICRS"), "celestial reference system"),
            FITSCard("EQUINOX", .real(2000), "[yr] equinox of the coordinates"),
            FITSCard("CTYPE1", .text("RA---TAN"), "right ascension, gnomonic projection"),
            FITSCard("CTYPE2", .text("DEC--TAN"), "declination, gnomonic projection"),
            FITSCard("CUNIT1", .text("deg"), "unit of CRVAL1 and CD1_i"),
            FITSCard("CUNIT2", .text("deg"), "unit of CRVAL2 and CD2_i"),
            FITSCard("CRVAL1", .real(alpha), "[deg] right ascension of the reference pixel"),
            FITSCard("CRVAL2", .real(delta), "[deg] declination of the reference pixel"),
            FITSCard("CRPIX1", .real(x), "[pix] reference pixel along x"),
            FITSCard("CRPIX2", .real(y), "[pix] reference pixel along y"),
            FITSCard("CD1_1", .real(cd.xx), "[deg/pix] linear transformation"),
            FITSCard("CD1_2", .real(cd.xy), "[deg/pix] linear transformation"),
            FITSCard("CD2_1", .real(cd.yx), "[deg/pix] linear transformation"),
            FITSCard("CD2_2", .real(cd.yy), "[deg/pix] linear transformation"),
        ]
    }
}
