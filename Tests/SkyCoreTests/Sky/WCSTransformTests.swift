import SkyCore
import Testing

@Suite struct WCSTransformTests {
    let folder = TemporaryFolder()

    @Test func `the reference pixel is at the reference position, and longitudes stay within 0 to 360`() throws {
        let cards = [
            "CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "CRPIX1  = 10.0", "CRPIX2  = 20.0", "CRVAL1  = 0.0",
            "CRVAL2  = 60.0", "CD1_1   = -0.01", "CD1_2   = 0.0", "CD2_1   = 0.0", "CD2_2   = 0.01",
        ]
        let image = try FITSImage(
            path: folder.write(TestFrame(width: 30, height: 30, seed: 1).fits(cards: cards)), hdu: nil)
        #expect(image.info.hasWCS)
        let sky = try #require(image.wcs?.sky([(10, 20), (9, 20), (11, 20)]))
        #expect(sky.compactMap { $0 }.count == 3)
        #expect(abs((sky[0]?.delta ?? 0) - 60) < 1e-9)
        #expect(abs((sky[1]?.alpha ?? 0) - 0.02) < 1e-5)
        #expect(abs((sky[2]?.alpha ?? 0) - 359.98) < 1e-5)
    }

    @Test func `a header without celestial coordinates has none`() throws {
        let plain = try FITSImage(path: folder.write(TestFrame(width: 30, height: 30, seed: 1).fits()), hdu: nil)
        #expect(plain.wcs == nil)
        #expect(!plain.info.hasWCS)
    }

    @Test(arguments: [("GLON-TAN", "GLAT-TAN", 2000.0), ("RA---TAN", "DEC--TAN", 1950.0)])
    func `coordinates that are not J2000 are not passed off as such`(x: String, y: String, equinox: Double) throws {
        let cards = [
            "CTYPE1  = '\(x)'", "CTYPE2  = '\(y)'", "CRPIX1  = 10.0", "CRPIX2  = 20.0", "CRVAL1  = 10.0",
            "CRVAL2  = 60.0", "CDELT1  = -0.01", "CDELT2  = 0.01", "EQUINOX = \(equinox)",
        ]
        let frame = TestFrame(width: 30, height: 30, seed: 1)
        #expect(try FITSImage(path: folder.write(frame.fits(cards: cards)), hdu: nil).wcs == nil)
    }

    /// Expected values by astropy 7 (`WCS.all_pix2world`, origin 1).
    @Test(
        .enabled(if: RealFrames.areHere, Comment(rawValue: RealFrames.comment)),
        arguments: [
            ("aegean_1904-66_SIN.fits", 277.1835191705128, -66.66988651877658),
            ("legacypipe_c4d_170316_ooi_z.fits", 186.7378147460034, 25.463212841869062),
            ("kbmod_demo_image.fits.gz", 200.46789308947842, -7.7203625701791605),
            ("ntf_m13_rice.fits", 250.43985791079564, 36.43235933331822),
        ])
    func `SIN, TPV, TAN-SIP and compressed images agree with astropy`(name: String, alpha: Double, delta: Double) throws
    {
        let image = try FITSImage(path: RealFrames.folder + "/" + name, hdu: nil)
        let sky = try #require(image.wcs?.sky(x: 100.5, y: 50.25))
        #expect(abs(sky.alpha - alpha) < 1e-10)
        #expect(abs(sky.delta - delta) < 1e-10)
    }
}
