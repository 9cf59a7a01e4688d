import Testing

@testable import Sky

@Suite struct ImageKeywordsTests {
    private func keywords(_ cards: (String, String)...) -> ImageKeywords {
        ImageKeywords(cards.map { String(($0.0 + "        ").prefix(8)) + "= " + $0.1 })
    }

    @Test func `the preferred one of several keywords counts`() {
        let found = keywords(
            ("GAIN", "139 / the camera's own setting"), ("EGAIN", "0.25"), ("SATURATE", "62000."), ("PHOTZP", "25.1"),
            ("MAGZERO", "27"), ("EXPTIME", "3.0D1"), ("FILTER", "'SDSS r / 2'"), ("OBJECT", "'Barnard''s star '"))
        #expect(found.gain == .init(value: 0.25, keyword: "EGAIN"))
        #expect(found.saturation?.value == 62_000 && found.zeroPoint?.value == 25.1 && found.exposure == 30)
        #expect(found.filter == "SDSS r / 2" && found.object == "Barnard's star")
    }

    @Test func `the gain keyword is ignored where pixels are already in electrons`() {
        #expect(keywords(("CCDGAIN", "2.0"), ("BUNIT", "'COUNTS'")).gain?.value == 2)
        #expect(keywords(("CCDGAIN", "2.0")).gain?.value == 2)
        for unit in ["ELECTRONS", "ELECTRONS/S", "electron s-1"] {
            #expect(keywords(("CCDGAIN", "2.0"), ("BUNIT", "'\(unit)'")).gain == nil, "\(unit)")
            #expect(keywords(("CCDGAIN", "2.0"), ("BUNIT", "'\(unit)'"), ("GAIN", "1.1")).gain?.value == 1.1)
        }
    }

    @Test(arguments: ["1e99", "'x'", "", "NaN", "inf", "T", "-1e99"])
    func `impossible values of keywords are ignored`(value: String) {
        let found = keywords(("GAIN", value), ("SATURATE", value), ("MAGZERO", value))
        #expect(found.gain == nil && found.saturation == nil && found.zeroPoint == nil)
        #expect(keywords(("GAIN", "0"), ("SATURATE", "0")).saturation == nil)
    }

    @Test func `zero points are read from the keywords of surveys`() throws {
        #expect(keywords(("FLUXMAG0", "1.0E11")).zeroPoint?.value == 27.5)
        // ACS/WFC F606W: 26.49 AB (ACS data handbook).
        let hubble = keywords(("PHOTFLAM", "7.862481E-20"), ("PHOTPLAM", "5.921100E+03")).zeroPoint
        #expect(abs(try #require(hubble).value - 26.49) < 0.02)
        // NIRCam's long waves: 9.31E-14 steradians a pixel are 93.1 nJy for each MJy/sr.
        let webb = keywords(("BUNIT", "'MJy/sr'"), ("PIXAR_SR", "9.31E-14")).zeroPoint
        #expect(abs(try #require(webb).value - 26.48) < 0.01)
        #expect(keywords(("BUNIT", "'nanomaggy'")).zeroPoint?.value == 22.5)
        #expect(keywords(("BUNIT", "'nJy'"), ("MAGZPT", "31")).zeroPoint?.keyword == "MAGZPT")
    }

    @Test(arguments: [
        ("ADU", "adu"), ("DN/S", "adu/s"), ("counts", "count"), ("Electrons/sec", "electron/s"), ("mJy/sr", "mJy/sr"),
        ("MJy/sr", "MJy/sr"), ("e-", "electron"), ("erg/s/cm**2/Angstrom", "erg/s/cm**2/Angstrom"),
    ])
    func `units are spelt as FITS does`(given: String, unit: String) {
        #expect(keywords(("BUNIT", "'\(given)'")).unit == unit)
    }

    @Test func `an empty filter wheel is ignored`() {
        #expect(keywords(("FILTER1", "'CLEAR1L'"), ("FILTER2", "'F814W'")).filter == "F814W")
        #expect(keywords(("FILTER1", "'B'"), ("FILTER2", "'OIII'")).filter == "B+OIII")
        #expect(keywords(("FILTER1", "'CLEAR'")).filter == nil)
    }

    @Test func `malformed cards are ignored`() {
        let found = ImageKeywords([
            "", "GAIN", "GAIN    =", "COMMENT = GAIN", "=", "        = 3", "GAIN    = x", "GAIN    = 3",
        ])
        #expect(found.gain == nil, "the first card counts, which has no number")
        #expect(ImageKeywords(["OBJECT  = 'no end", "FILTER  = ''''"]).object == "no end")
        #expect(ImageKeywords(["OBJECT  = 'a\u{1B}[2Jb'"]).object?.contains("\u{1B}") == false)
    }

    @Test func `requested settings override the header`() {
        let header = keywords(("GAIN", "2"), ("SATURATE", "100"), ("MAGZERO", "25"))
        var asked = ScanConfiguration()
        let plain = asked.completed(by: header)
        #expect(plain.gain == 2 && plain.saturation == 100 && plain.zeroPoint == 25)
        (asked.gain, asked.saturation, asked.zeroPoint) = (0, 50, 0)
        #expect(asked.completed(by: header) == asked)
    }
}
