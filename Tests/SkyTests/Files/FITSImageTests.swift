import Base
import Fixtures
import Glibc
import Sky
import Testing

@Suite struct FITSImageTests {
    let folder = TemporaryFolder()

    private func message(_ bytes: [UInt8], name: String = "frame.fits", hdu: Int? = nil) -> String? {
        let path = folder.write(bytes, name)
        return SkyError.thrown { () throws(SkyError) in try FITSImage(path: path, hdu: hdu) }?.message
    }

    @Test func `a plain image is read with its size, and rectangles of it are its pixels`() throws {
        let frame = TestFrame(width: 60, height: 40, seed: 1)
        let image = try FITSImage(path: folder.write(frame.fits()), hdu: nil)
        #expect(image.info == frame.info)
        #expect(try image.read(frame.rect) == frame.pixels)
        let part = PixelRect(x: 13, y: 7, width: 21, height: 5)
        #expect(try image.read(part) == frame.cut(part))
    }

    @Test func `infinities and huge numbers are read as missing`() throws {
        var frame = TestFrame(width: 4, height: 1, seed: 1)
        frame.pixels = [.infinity, -2e30, 1, -.infinity]
        let pixels = try FITSImage(path: folder.write(frame.fits()), hdu: nil).read(frame.rect)
        #expect(pixels.map(\.isNaN) == [true, true, false, true])
    }

    @Test func `BSCALE, BZERO and BLANK are applied`() throws {
        let header = FITSBytes.header([
            "BITPIX  = 16", "NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 1", "BLANK   = -5", "BSCALE  = 0.5",
            "BZERO   = 100.0",
        ])
        let path = folder.write(header + FITSBytes.padded([0x00, 0x02, 0xFF, 0xFB, 0xFF, 0xFE]))
        let pixels = try FITSImage(path: path, hdu: nil).read(PixelRect(x: 0, y: 0, width: 3, height: 1))
        #expect(pixels[0] == 101)
        #expect(pixels[1].isNaN)
        #expect(pixels[2] == 99)
    }

    @Test func `the first two-dimensional image is found, and a third axis of length one is ignored`() throws {
        let primary = FITSBytes.header(["BITPIX  = 8", "NAXIS   = 0", "EXTEND  = T"])
        let cube = FITSBytes.header(
            ["BITPIX  = 8", "NAXIS   = 3", "NAXIS1  = 4", "NAXIS2  = 4", "NAXIS3  = 2", "PCOUNT  = 0", "GCOUNT  = 1"],
            first: "XTENSION= 'IMAGE   '")
        let flat = FITSBytes.header(
            ["BITPIX  = 8", "NAXIS   = 3", "NAXIS1  = 3", "NAXIS2  = 2", "NAXIS3  = 1", "PCOUNT  = 0", "GCOUNT  = 1"],
            first: "XTENSION= 'IMAGE   '")
        let bytes =
            primary + cube + FITSBytes.padded([UInt8](repeating: 0, count: 32)) + flat
            + FITSBytes.padded([1, 2, 3, 4, 5, 6])
        let path = folder.write(bytes)
        let image = try FITSImage(path: path, hdu: nil)
        #expect(image.info.hdu == 2)
        #expect(try image.read(PixelRect(x: 1, y: 0, width: 2, height: 2)) == [2, 3, 5, 6])
        #expect(image.images().others == ["HDU 1 (an array of 4 x 4 x 2)"])
        #expect(message(bytes, hdu: 7) == "\(path): there is no HDU 7; the file has 3, counted from 0")
    }

    @Test func `the local error for another kind of file quotes its first bytes`() {
        let complaint = { (bytes: [UInt8]) in
            let path = folder.write(bytes)
            return SkyError.thrown { () throws(SkyError) in try FITSSniff.check(path: path, showsStart: true) }?.message
        }
        #expect(
            complaint(Array("<!DOCTYPE html>".utf8))
                == "\(folder.path)/frame.fits: not a FITS file (it begins with \"<!DOCTYPE\"); is it a saved web page?")
        #expect(
            complaint([0x89, 0x50, 0x4E, 0x47, 0x0D])?.hasSuffix(
                "(it begins with bytes 89 50 4e 47); it is a PNG picture") == true)
    }

    @Test func `a node's error for another kind of file does not quote its content`() {
        #expect(
            message(Array("<!DOCTYPE html>".utf8))
                == "\(folder.path)/frame.fits: not a FITS file; is it a saved web page?")
        #expect(message([0x89, 0x50, 0x4E, 0x47, 0x0D])?.hasSuffix("not a FITS file; it is a PNG picture") == true)
        #expect(message(Array("root:$y$j9T$hidden".utf8))?.hasSuffix("frame.fits: not a FITS file") == true)
        #expect(message([0x07, 0x33, 0x41, 0x42])?.hasSuffix("frame.fits: not a FITS file") == true)
        #expect(message([])?.hasSuffix("empty (0 bytes); is it still being written?") == true)
    }

    @Test func `the error for a truncated file says what its header promised`() {
        let whole = TestFrame(width: 90, height: 80, seed: 2).fits()
        let cut = message(Array(whole.prefix(2880 * 3)))
        #expect(cut?.contains("truncated: the header promises 90 x 80 pixels") == true)
        #expect(message(Array(whole.prefix(1000)))?.contains("truncated: 1000 bytes") == true)
        var header = Array(whole.prefix(2880))
        for card in stride(from: 0, to: 2880, by: 80) where header[card...].starts(with: "END ".utf8) {
            header.replaceSubrange(card..<card + 3, with: "   ".utf8)
        }
        let endless = message(header)
        #expect(endless?.contains("truncated: the header of HDU 0 has no END") == true)
    }

    @Test func `a header that promises absurd sizes is refused without reading`() {
        let sizes = [(70_000, 70_000), (2_147_483_647, 2), (9_223_372_036_854_775_807, 9_223_372_036_854_775_807)]
        for (width, height) in sizes {
            let header = FITSBytes.header([
                "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = \(width)", "NAXIS2  = \(height)",
            ])
            #expect(message(header + FITSBytes.padded([0])) != nil)
        }
    }

    @Test func `a missing file and a directory are this node's problem, a text the user's`() {
        let missing = SkyError.thrown { () throws(SkyError) in try FITSSniff.check(path: "/nowhere/x.fits") }
        #expect(missing == SkyError(.unavailable, "/nowhere/x.fits: no such file on this node"))
        let directory = SkyError.thrown { () throws(SkyError) in try FITSSniff.check(path: folder.path) }
        #expect(directory?.kind == .unavailable)
        #expect(directory?.message.contains("a directory") == true)
        let pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let irregular = SkyError.thrown { () throws(SkyError) in try FITSSniff.check(path: pipe) }
        #expect(irregular?.kind == .unavailable)
        #expect(symlink("loop", folder.path + "/loop") == 0)
        let loop = SkyError.thrown { () throws(SkyError) in try FITSSniff.check(path: folder.path + "/loop") }
        for error in [missing, directory, irregular, loop] { #expect(FITSSniff.saysMissing(error?.message ?? "")) }
        let text = folder.write(Array("<html>".utf8))
        let page = SkyError.thrown { () throws(SkyError) in try FITSSniff.check(path: text) }
        #expect(page?.kind == .badInput && !FITSSniff.saysMissing(page?.message ?? ""))
    }

    @Test func `extended file names are names of files, not instructions`() {
        let path = folder.write(TestFrame(width: 9, height: 9, seed: 3).fits())
        for name in ["\(path)[1:2,1:2]", "\(path)(\(folder.path)/copy.fits)", "\(path)[0]"] {
            let error = SkyError.thrown { () throws(SkyError) in try FITSImage(path: name, hdu: nil) }
            #expect(error?.kind == .unavailable)
        }
        #expect(access("\(folder.path)/copy.fits", F_OK) != 0)
    }

    @Test func `a rectangle outside the image is refused, whatever its numbers`() throws {
        let image = try FITSImage(path: folder.write(TestFrame(width: 9, height: 9, seed: 3).fits()), hdu: nil)
        for rect in [
            PixelRect(x: 0, y: 0, width: 10, height: 1), PixelRect(x: -1, y: 0, width: 2, height: 2),
            PixelRect(x: 5, y: 5, width: .max, height: .max), PixelRect(x: .max, y: 0, width: 1, height: 1),
            PixelRect(x: 0, y: 0, width: 0, height: 4),
        ] {
            #expect(throws: SkyError.self) { try image.read(rect) }
        }
    }

    /// A file with an empty primary HDU and an extension for each name, all with the pixels of a frame.
    private func extensions(_ names: [String], primary: [String], of frame: TestFrame) -> [UInt8] {
        let whole = frame.fits()
        let data = whole.dropFirst(2880)
        return names.reduce(FITSBytes.header(["BITPIX  = 8", "NAXIS   = 0", "EXTEND  = T"] + primary)) { bytes, name in
            let header = FITSBytes.header(
                [
                    "BITPIX  = -32", "NAXIS   = 2", "NAXIS1  = \(frame.width)", "NAXIS2  = \(frame.height)",
                    "PCOUNT  = 0", "GCOUNT  = 1", "EXTNAME = '\(name)'",
                ], first: "XTENSION= 'IMAGE   '")
            return bytes + header + data
        }
    }

    @Test func `all images of a file are found, and weights and errors are recognised by name`() throws {
        let frame = TestFrame(width: 16, height: 12, seed: 2)
        let path = folder.write(extensions(["CCD1", "ERR", "CCD2", "wht", "VAR_POISSON", ""], primary: [], of: frame))
        let images = try FITSImage(path: path, hdu: nil).images()
        #expect(images.sky == [1, 3, 6])
        #expect(images.others == ["HDU 2 (ERR)", "HDU 4 (wht)", "HDU 5 (VAR_POISSON)"])
        let info = try SkyEngine().inspect(path: path, hdu: nil)
        #expect(info.hdu == 1 && info.images == [1, 3, 6])
        #expect(try SkyEngine().inspect(path: path, hdu: 3).images == nil, "one was asked for")
        // The pixels are read after the search as before it.
        #expect(try FITSImage(path: path, hdu: nil).read(frame.rect) == frame.pixels)
        // A part of the file that cannot be reached is reported.
        let broken =
            extensions(["A", "B"], primary: [], of: frame)
            + FITSBytes.padded(Array("XTENSION= 'IMAGE   '".utf8), with: 0x20)
        let rest = try FITSImage(path: folder.write(broken), hdu: nil).images()
        #expect(rest.sky == [1, 2] && rest.others == ["HDU 3 and what follows it (its header is damaged)"])
        // The first image is not one that belongs to another.
        let second = folder.write(extensions(["ERR", "SCI"], primary: [], of: frame))
        #expect(try FITSImage(path: second, hdu: nil).info.hdu == 2)
    }

    @Test func `an extension without coordinates has those of the primary header`() throws {
        let frame = TestFrame(width: 16, height: 12, seed: 2)
        let wcs = [
            "CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "CRVAL1  = 150.0", "CRVAL2  = 2.0", "CRPIX1  = 1.0",
            "CRPIX2  = 1.0", "CD1_1   = -0.0001", "CD1_2   = 0.0", "CD2_1   = 0.0", "CD2_2   = 0.0001",
        ]
        let path = folder.write(extensions(["A", "B"], primary: wcs, of: frame))
        for hdu in 1...2 {
            let image = try FITSImage(path: path, hdu: hdu)
            let place = try #require(image.wcs?.sky(x: 1, y: 1))
            #expect(abs(place.alpha - 150) < 1e-9 && abs(place.delta - 2) < 1e-9)
            #expect(try image.read(frame.rect) == frame.pixels, "the file is at its own image again")
        }
        // A primary with an image of its own is another image.
        let other = folder.write(
            TestFrame(width: 8, height: 8, seed: 1).fits(cards: wcs)
                + extensions(
                    ["A"], primary: [], of: frame
                ).dropFirst(2880))
        #expect(try FITSImage(path: other, hdu: 1).wcs == nil)
        #expect(try FITSImage(path: other, hdu: 0).wcs != nil)
    }
}
