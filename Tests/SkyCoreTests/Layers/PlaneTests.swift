import Testing

@testable import SkyCore

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

    @Test func `each plane of a cube is read, the first where none is named`() throws {
        let frames = planes(4)
        let path = folder.write(FITSArray(planes: frames).primary)
        for (index, frame) in frames.enumerated() {
            let image = try read(path, index + 1)
            #expect(image.info.cube == ImageCube(planes: 4, isColourImage: false))
            #expect(try image.read(frame.rect) == frame.pixels, "plane \(index + 1)")
        }
        #expect(try read(path, nil).read(frames[0].rect) == frames[0].pixels)
    }

    @Test func `of higher axes the third counts fastest, and axes of one plane count for nothing`() throws {
        let frames = planes(6, width: 12, height: 9)
        let path = folder.write(FITSArray(planes: frames, higherAxes: [2, 1, 3]).primary)
        for (index, frame) in frames.enumerated() {
            #expect(try read(path, index + 1).read(frame.rect) == frame.pixels, "plane \(index + 1)")
        }
        let flat = folder.write(FITSArray(planes: [frames[0]], higherAxes: [1, 1]).primary, "flat.fits")
        #expect(try read(flat, nil).info.cube == nil)
        #expect(try read(flat, 1).read(frames[0].rect) == frames[0].pixels)
    }

    @Test func `a plane that is not there is refused with those that are`() throws {
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

    @Test func `axes that promise absurd numbers of planes are refused`() {
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

    @Test func `an image of one plane comes before cubes, and those are told`() throws {
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
        // What wcslib makes nothing of.
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

    @Test func `a cube whose planes are no pictures of the sky has no coordinates`() throws {
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

    @Test func `two planes of one file have results of their own`() throws {
        func key(_ plane: Int?) throws -> CacheKey {
            let path = folder.write(FITSArray(planes: planes(3)).primary)
            var request = SkyRequest(
                image: ImageReference(path: path, hdu: 0, layer: ImageLayer(plane: plane)),
                configuration: ScanConfiguration())
            request.pictureSide = 100
            var plan = SkyPlan(request)
            _ = plan.begin()
            let info = try SkyEngine().inspect(path: path, hdu: 0, layer: request.image.layer, withContent: true)
            _ = plan.completed(0, .inspected(info))
            return try #require(plan.cacheKey(1))
        }
        #expect(try key(1) != key(2))
        #expect(try key(2) == key(2))
        #expect(try key(nil) != key(2))
    }

    @Test func `a look at another plane than the one asked for is not believed`() throws {
        let path = folder.write(FITSArray(planes: planes(3)).primary)
        let request = SkyRequest(
            image: ImageReference(path: path, hdu: 0, layer: ImageLayer(plane: 2)), configuration: ScanConfiguration())
        var plan = SkyPlan(request)
        _ = plan.begin()
        #expect(!plan.accepts(0, .inspected(try SkyEngine().inspect(path: path, hdu: 0))))
        #expect(plan.accepts(0, .inspected(try SkyEngine().inspect(path: path, hdu: 0, layer: ImageLayer(plane: 2)))))
    }
}
