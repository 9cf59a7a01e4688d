import Base
import Fixtures
import Testing

@testable import Sky

/// Masks, variances and weights among the images of a file.
@Suite struct FileImagesTests {
    let folder = TemporaryFolder()

    private func frame(_ seed: UInt64 = 1) -> TestFrame {
        var frame = TestFrame(width: 200, height: 160, seed: seed)
        frame.addStars(40)
        return frame
    }

    /// A mask with some bits set where `rect` is.
    private func mask(_ bits: Double, in rect: PixelRect, bitpix: Int = 32, cards: [String] = []) -> FITSArray {
        var values = [Double](repeating: 0, count: 200 * 160)
        for y in rect.y..<rect.bottom { for x in rect.x..<rect.right { values[y * 200 + x] = bits } }
        return FITSArray(width: 200, height: 160, bitpix: bitpix, values, cards: cards)
    }

    private func inspect(_ bytes: [UInt8], name: String = "frame.fits", auto: Bool = false) throws -> ImageInfo {
        var companions: Companions?
        if auto {
            companions = Companions()
            companions?.takesOwn = true
        }
        return try SkyEngine().inspect(path: folder.write(bytes, name), hdu: nil, companions: companions)
    }

    private let corner = PixelRect(x: 0, y: 0, width: 80, height: 160)

    @Test func `LSST masks are recognised by EXTTYPE, and their bits by name`() throws {
        let image = FITSArray(frame(), cards: ["EXTTYPE = 'IMAGE   '"])
        // Bit 5 is detected, which is no reason to leave a pixel out.
        let bits = [
            "EXTTYPE = 'MASK    '", "MP_BAD  = 0", "MP_SAT  = 1", "MP_CR   = 3", "MP_DETECTED = 5",
            "HIERARCH MP_NO_DATA = 8",
        ]
        let variance = FITSArray(frame(2), cards: ["EXTTYPE = 'VARIANCE'"])
        for (value, isMissing) in [(1.0, true), (2, true), (8, true), (256, true), (32, false), (33, true), (4, false)]
        {
            let mask = mask(value, in: corner, cards: bits)
            let bytes = FITSArray.empty() + image.extension + mask.extension + variance.extension
            let info = try inspect(bytes, auto: true)
            #expect(info.hdu == 1 && info.images == [1])
            #expect(info.auxiliaries == ["HDU 2 (a mask)", "HDU 3 (a variance map)"])
            let own = try #require(info.ownCompanions)
            #expect(own.mask?.hdu == 2 && own.noise?.hdu == 3 && own.kind == .variance)
            let path = folder.write(bytes)
            let flags = try FITSImage(path: path, hdu: 2, layer: try #require(own.mask?.layer))
            #expect(try flags.read(PixelRect(x: 3, y: 3, width: 1, height: 1)) == [isMissing ? 1 : 0], "\(value)")
            #expect(try flags.read(PixelRect(x: 150, y: 3, width: 1, height: 1)) == [0])
        }
        #expect(try inspect(FITSArray.empty() + image.extension).ownCompanions == nil)
    }

    @Test func `mask bits beyond the precision of 32-bit floats are read`() throws {
        let mask = mask(Double(1 << 30 + 1), in: corner)
        let path = folder.write(mask.primary)
        func pixel(_ bits: UInt64) throws -> Float {
            var layer = ImageLayer()
            layer.flags = MaskRule(bits: bits)
            return try FITSImage(path: path, hdu: 0, layer: layer).read(PixelRect(x: 1, y: 1, width: 1, height: 1))[0]
        }
        #expect(try pixel(1) == 1 && pixel(1 << 30) == 1 && pixel(2) == 0)
    }

    @Test func `NOIRLab's code for a changed pixel is not a bad one`() {
        for (code, isBad) in [(0.0, false), (1, true), (3, true), (5, true), (7, false), (8, true)] {
            #expect(MaskRule.noirlab.isBad(code) == isBad)
        }
        #expect(MaskRule.noirlab.isBad(.nan) && MaskRule.anything.isBad(-1) && !MaskRule.anything.isBad(0))
    }

    @Test func `a mask in the image's own file is applied only on request`() throws {
        let image = FITSArray(frame(), cards: ["EXTNAME = 'SCI     '"])
        let mask = mask(1, in: corner, bitpix: 16, cards: ["EXTNAME = 'DQ      '"])
        let path = folder.write(FITSArray.empty() + image.extension + mask.extension)
        func scan(_ auto: Bool) throws -> [Source] {
            var companions: Companions?
            if auto {
                companions = Companions()
                companions?.takesOwn = true
            }
            var reference = ImageReference(path: path, hdu: nil)
            reference.companions = companions
            var plan = ScanPhases(SkyRequest(image: reference, configuration: ScanConfiguration()))
            var (count, number) = (plan.begin().newWork, 0)
            let engine = SkyEngine()
            while number < count {
                let work = try #require(plan.work(number))
                try work.check()
                count += plan.completed(number, try engine.perform(work)).newWork
                number += 1
            }
            return try #require(plan.catalogue).sources
        }
        let (plain, masked) = (try scan(false), try scan(true))
        #expect(plain.contains { $0.x < 78 } && !masked.contains { $0.x < 78 })
        #expect(masked.contains { $0.x > 100 })
    }

    @Test func `unnamed images after one with coordinates are its mask and variance`() throws {
        let wcs = ["CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "CRVAL1  = 150.0", "CRVAL2  = 2.0"]
        let image = FITSArray(frame(), cards: wcs).extension
        let plain = FITSArray(frame(2)).extension
        let info = try inspect(FITSArray.empty() + image + plain + plain, auto: true)
        #expect(info.images == [1] && info.auxiliaries == ["HDU 2 (a mask)", "HDU 3 (a variance map)"])
        // Several detectors of one camera are all images, with or without coordinates.
        #expect(try inspect(FITSArray.empty() + image + image + image).images == [1, 2, 3])
        #expect(try inspect(FITSArray.empty() + plain + plain + plain).images == [1, 2, 3])
        // An array of integers after an image of real numbers is not a second image.
        let bits = mask(4, in: corner).extension
        #expect(try inspect(FITSArray.empty() + plain + bits).auxiliaries == ["HDU 2 (a mask)"])
        #expect(try inspect(FITSArray.empty() + bits + bits).images == [1, 2])
    }

    @Test func `a file of masks only has no image unless its HDU is named`() throws {
        let bits = mask(4, in: corner)
        let bytes = FITSArray.empty(["PRODTYPE= 'dqmask  '"]) + bits.extension
        let path = folder.write(bytes)
        func message(_ path: String) -> String? {
            SkyError.thrown { () throws(SkyError) in try SkyEngine().inspect(path: path, hdu: nil) }?.message
        }
        #expect(message(path) == "\(path): no picture of the sky in it: HDU 1 is a mask; --hdu 1 scans it all the same")
        #expect(try SkyEngine().inspect(path: path, hdu: 1).hdu == 1)
        for (name, what) in [
            ("c4d_170316_062107_ood_z_ls9.fits", "a mask"), ("c4d_170316_062107_oow_z_ls9.fits", "a weight map"),
        ] {
            let path = folder.write(FITSArray.empty() + bits.extension, name)
            #expect(message(path)?.contains("HDU 1 is \(what);") == true)
        }
        let image = folder.write(FITSArray.empty() + bits.extension, "c4d_170316_062107_ooi_z_ls9.fits")
        #expect(try SkyEngine().inspect(path: image, hdu: nil).hdu == 1)
    }

    @Test func `each of several images has the companions with the same EXTVER`() throws {
        func plane(_ name: String, _ version: Int) -> [UInt8] {
            FITSArray(frame(), cards: ["EXTNAME = '\(name)'", "EXTVER  = \(version)"]).extension
        }
        let names = [("SCI", 1), ("ERR", 1), ("DQ", 1), ("SCI", 2), ("ERR", 2), ("DQ", 2)]
        let bytes = names.reduce(FITSArray.empty()) { $0 + plane($1.0, $1.1) }
        let path = folder.write(bytes)
        var companions = Companions()
        companions.takesOwn = true
        for (hdu, mask) in [(1, 3), (4, 6)] {
            let info = try SkyEngine().inspect(path: path, hdu: hdu, companions: companions)
            #expect(info.ownCompanions?.mask?.hdu == mask)
            #expect(info.ownCompanions?.noise == nil, "errors hold the sources' own photons")
        }
        let apart = [("SCI", 1), ("SCI", 2), ("DQ", 2), ("DQ", 1)].reduce(FITSArray.empty()) { $0 + plane($1.0, $1.1) }
        let info = try SkyEngine().inspect(path: folder.write(apart), hdu: 1, companions: companions)
        #expect(info.ownCompanions?.mask?.hdu == 4)
    }

    @Test(.enabled(if: RealFrames.areHere, Comment(rawValue: RealFrames.comment)))
    func `only the image of a real frame with unnamed companions is scanned`() throws {
        let info = try SkyEngine().inspect(path: RealFrames.folder + "/kbmod_demo_image.fits.gz", hdu: nil)
        #expect(info.images == [1] && info.auxiliaries == ["HDU 2 (a mask)", "HDU 3 (a variance map)"])
    }
}
