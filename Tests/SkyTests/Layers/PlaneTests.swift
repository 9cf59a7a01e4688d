import Base
import Fixtures
import Testing

@testable import Sky

/// Planes of cubes.
@Suite struct PlaneTests {
    let folder = TemporaryFolder()

    private func planes(_ count: Int, width: Int = 50, height: Int = 40) -> [TestFrame] {
        (0..<count).map { number in
            var frame = TestFrame(width: width, height: height, seed: UInt64(number + 1))
            frame.addStars(6)
            return frame
        }
    }

    private func read(_ path: String, _ plane: Int?) throws -> FITSImage {
        try FITSImage(path: path, hdu: nil, layer: ImageLayer(plane: plane))
    }

    @Test func `each plane of a cube can be read, and the first is the default`() throws {
        let frames = planes(4)
        let path = folder.write(FITSArray(planes: frames).primary)
        for (index, frame) in frames.enumerated() {
            let image = try read(path, index + 1)
            #expect(image.info.cube == ImageCube(planes: 4, isColourImage: false))
            #expect(try image.read(frame.rect) == frame.pixels, "plane \(index + 1)")
        }
        #expect(try read(path, nil).read(frames[0].rect) == frames[0].pixels)
    }

    @Test func `planes are counted along the third axis first, and axes of length one are ignored`() throws {
        let frames = planes(6, width: 12, height: 9)
        let path = folder.write(FITSArray(planes: frames, higherAxes: [2, 1, 3]).primary)
        for (index, frame) in frames.enumerated() {
            #expect(try read(path, index + 1).read(frame.rect) == frame.pixels, "plane \(index + 1)")
        }
        let flat = folder.write(FITSArray(planes: [frames[0]], higherAxes: [1, 1]).primary, "flat.fits")
        #expect(try read(flat, nil).info.cube == nil)
        #expect(try read(flat, 1).read(frames[0].rect) == frames[0].pixels)
    }

    @Test func `an unknown plane is refused, and the error says how many exist`() throws {
        let path = folder.write(FITSArray(planes: planes(4)).primary)
        let flat = folder.write(planes(1)[0].fits(), "flat.fits")
        func message(_ path: String, _ plane: Int) -> String? {
            SkyError.thrown { () throws(SkyError) in
                try FITSImage(path: path, hdu: nil, layer: ImageLayer(plane: plane))
            }?.message
        }
        #expect(message(path, 5) == "\(path): there is no plane 5; HDU 0 has 4, counted from 1")
        #expect(message(path, 0) == "\(path): there is no plane 0; HDU 0 has 4, counted from 1")
        #expect(message(flat, 2) == "\(flat): there is no plane 2; HDU 0 has one")
        for plane in [0, -1, Int.max, 1_000_001] {
            #expect(throws: SkyError.self) { try ImageLayer(plane: plane).validate() }
        }
    }

    @Test func `absurd numbers of planes are refused`() {
        let header = FITSBytes.header([
            "BITPIX  = 8", "NAXIS   = 5", "NAXIS1  = 4", "NAXIS2  = 4", "NAXIS3  = 2147483647", "NAXIS4  = 2147483647",
            "NAXIS5  = 2147483647",
        ])
        let path = folder.write(header + FITSBytes.padded([0]))
        #expect(throws: SkyError.self) { try FITSImage(path: path, hdu: nil) }
    }

    @Test func `three planes are a colour image, unless their axis has another name`() throws {
        func cube(_ cards: [String], _ axes: [Int]? = nil) throws -> ImageCube? {
            let count = axes?.reduce(1, *) ?? 3
            let array = FITSArray(planes: planes(count, width: 8, height: 8), higherAxes: axes, cards: cards)
            return try read(folder.write(array.primary), nil).info.cube
        }
        #expect(try cube([])?.isColourImage == true)
        #expect(try cube(["CTYPE3  = 'RGB     '"])?.isColourImage == true)
        #expect(try cube(["CTYPE3  = 'FREQ    '"])?.isColourImage == false)
        #expect(try cube([], [1, 3])?.isColourImage == false)
        #expect(try cube([], [3, 2])?.isColourImage == false)
    }

    @Test func `an image of one plane is preferred to cubes, and these are reported`() throws {
        let frames = planes(3, width: 20, height: 20)
        let bytes = FITSArray.empty() + FITSArray(planes: frames).extension + FITSArray(frames[1]).extension
        let info = try SkyEngine().inspect(path: folder.write(bytes), hdu: nil)
        #expect(info.hdu == 2 && info.images == [2] && info.cube == nil)
        #expect(info.auxiliaries == ["HDU 1 (an array of 20 x 20 x 3)"])
        let asked = try SkyEngine().inspect(
            path: folder.write(bytes), hdu: nil, layer: ImageLayer(plane: 3))
        #expect(asked.hdu == 1 && asked.images == [1])
    }

    private let sky = [
        "CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "CRVAL1  = 150.0", "CRVAL2  = 2.0", "CRPIX1  = 1.0",
        "CRPIX2  = 1.0", "CDELT1  = -0.0001", "CDELT2  = 0.0001",
    ]

    @Test(arguments: [
        ["CTYPE3  = 'FREQ    '", "CRVAL3  = 1.4E9", "CDELT3  = 1.0E6", "CRPIX3  = 1.0"],
        // A header that wcslib cannot use.
        ["CTYPE3  = 'VELO-F2V'", "CRVAL3  = 0.0", "CDELT3  = 0.0", "CUNIT3  = 'furlongs'"],
        [],
    ])
    func `a cube has the coordinates of its axes of the sky`(third: [String]) throws {
        let array = FITSArray(planes: planes(4), cards: sky + third)
        let path = folder.write(array.primary)
        let flat = try FITSImage(path: folder.write(planes(1)[0].fits(cards: sky), "flat.fits"), hdu: nil)
        for plane in [1, 3] {
            let found = try #require(try read(path, plane).wcs?.sky(x: 30, y: 20), "\(third)")
            let expected = try #require(flat.wcs?.sky(x: 30, y: 20))
            #expect(abs(found.alpha - expected.alpha) < 1e-10 && abs(found.delta - expected.delta) < 1e-10)
        }
    }

    @Test func `a cube whose planes are not images of the sky has no coordinates`() throws {
        let cards = [
            "CTYPE1  = 'RA---TAN'", "CTYPE2  = 'FREQ    '", "CTYPE3  = 'DEC--TAN'", "CRVAL1  = 150.0",
            "CRVAL2  = 1.4E9",
            "CRVAL3  = 2.0", "CDELT1  = -0.0001", "CDELT2  = 1.0E6", "CDELT3  = 0.0001",
        ]
        #expect(try read(folder.write(FITSArray(planes: planes(4), cards: cards).primary), 2).wcs == nil)
        #expect(try read(folder.write(FITSArray(planes: planes(4)).primary), 2).wcs == nil)
    }

    @Test func `a scan of a plane finds what a scan of it alone finds`() throws {
        let frames = planes(3, width: 200, height: 150)
        let path = folder.write(FITSArray(planes: frames).primary)
        for (index, frame) in frames.enumerated() {
            let alone = try SkyScan().catalogue(of: .file(folder.write(frame.fits(), "alone.fits")))
            let found = try SkyScan().catalogue(of: .file(path, layer: ImageLayer(plane: index + 1)))
            #expect(found.sources == alone.sources && !found.sources.isEmpty)
        }
    }

    @Test func `the header of another plane is refused`() throws {
        let path = folder.write(FITSArray(planes: planes(3)).primary)
        let request = SkyRequest(
            image: ImageReference(path: path, hdu: 0, layer: ImageLayer(plane: 2)), configuration: ScanConfiguration())
        var plan = ScanPhases(request)
        _ = plan.begin()
        #expect(!plan.accepts(0, .inspected(try SkyEngine().inspect(path: path, hdu: 0))))
        #expect(plan.accepts(0, .inspected(try SkyEngine().inspect(path: path, hdu: 0, layer: ImageLayer(plane: 2)))))
    }
}

/// Requests whose later steps cannot work, which is noticed before the scan.
@Suite struct ScanPurposeTests {
    let folder = TemporaryFolder()

    private func sky(_ alpha: Double, _ delta: Double) -> [String] {
        [
            "CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "CRVAL1  = \(alpha)", "CRVAL2  = \(delta)",
            "CRPIX1  = 50.0",
            "CRPIX2  = 40.0", "CDELT1  = -0.001", "CDELT2  = 0.001",
        ]
    }

    private func info(_ cards: [String] = []) throws -> ImageInfo {
        try SkyEngine().inspect(
            path: folder.write(TestFrame(width: 100, height: 80, seed: 1).fits(cards: cards)), hdu: nil)
    }

    /// Why a scan is given up before it begins; `nil` where it is not.
    private func objection(_ purpose: ScanPurpose, _ info: ImageInfo) -> String? {
        var request = SkyRequest(
            image: ImageReference(path: folder.path + "/frame.fits", hdu: nil), configuration: ScanConfiguration())
        request.purpose = purpose
        var plan = ScanPhases(request)
        _ = plan.begin()
        return plan.completed(0, .inspected(info)).abort?.message
    }

    @Test func `images of other parts of the sky are not compared`() throws {
        var purpose = ScanPurpose()
        purpose.isCompared = true
        purpose.reference = try info(sky(150, 2)).place
        #expect(purpose.reference.map { abs($0.radius - 0.064) < 0.002 && abs($0.alpha - 150) < 0.001 } == true)
        #expect(try objection(purpose, info(sky(150, 2))) == nil)
        #expect(try objection(purpose, info(sky(150.1, 2))) == nil, "they touch")
        #expect(try objection(purpose, info()) == nil, "nothing is known of it")
        let away = try objection(purpose, info(sky(151, 2)))
        #expect(
            away?.hasSuffix("the two images do not overlap: by their coordinates their middles lie 1.00 degrees apart")
                == true)
        purpose.coordinateError = 4000
        #expect(try objection(purpose, info(sky(151, 2))) == nil)
        // Around the pole and where right ascension begins again.
        purpose.reference = try info(sky(359.99, 89.99)).place
        #expect(try objection(purpose, info(sky(180.01, 89.99))) == nil)
    }

    @Test func `stars that do not fit or are too faint are not injected`() throws {
        var purpose = ScanPurpose()
        purpose.injection = InjectionDemand(count: 20_000)
        #expect(try objection(purpose, info())?.contains("--inject 20000: the image has room for") == true)
        purpose.injection = InjectionDemand(count: 3)
        #expect(try objection(purpose, info()) == nil)
        purpose.injection?.magnitudes = 10...200
        #expect(try objection(purpose, info())?.contains("200") == true)
    }

    @Test func `a colour image as reference needs a plane, and values beyond floats are refused`() throws {
        var purpose = ScanPurpose()
        (purpose.isReference, purpose.isCompared) = (true, true)
        var colour = try info()
        colour.cube = ImageCube(planes: 3, isColourImage: true)
        #expect(objection(purpose, colour)?.contains("--plane names the one of its planes") == true)
        purpose.isReference = false
        #expect(objection(purpose, colour) == nil)
        var huge = try info()
        huge.layer = ImageLayer()
        huge.layer?.scale = PixelScale(offset: 0, exponent: 80)
        #expect(objection(purpose, huge)?.contains("--reference needs such") == true)
    }

    @Test func `sharpness is judged for each plane of a cube separately`() throws {
        let frames = (0..<2).map { number in
            var frame = TestFrame(width: 300, height: 200, seed: UInt64(number + 5))
            for index in 0..<24 {
                frame.addStar(x: 20 + Double(index % 8) * 36, y: 30 + Double(index / 8) * 60, flux: 20_000)
            }
            frame.pixels[60 * 300 + 110 + 72 * number] += 2000
            return frame
        }
        let path = folder.write(FITSArray(planes: frames).primary)
        for plane in 1...2 {
            let catalogue = try SkyScan(ScanConfiguration()).catalogue(of: .file(path, layer: ImageLayer(plane: plane)))
            let sharp = catalogue.sources.filter { $0.imageFlags != 0 }
            #expect(sharp.count == 1 && abs(sharp[0].x - 1 - Double(38 + 72 * plane)) < 1, "plane \(plane)")
        }
    }
}
