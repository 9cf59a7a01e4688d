import Base
import Fixtures
import Glibc
import Testing

@testable import Sky

/// Frames of colour cameras.
@Suite struct BayerTests {
    let folder = TemporaryFolder()

    @Test(arguments: BayerPattern.allCases)
    func `a colour has the pixels that its pattern names`(pattern: BayerPattern) throws {
        // Odd sizes: the last row and column belong to some colours only.
        let (width, height) = (11, 7)
        var frame = TestFrame(width: width, height: height, seed: 1)
        let letters = Array(pattern.rawValue)
        for y in 0..<height { for x in 0..<width { frame.pixels[y * width + x] = Float(100 * y + x) } }
        let path = folder.write(frame.fits())
        for colour in BayerPattern.Colour.allCases {
            let image = try FITSImage(path: path, hdu: nil, layer: ImageLayer(bayer: BayerGrid(pattern, colour)))
            let info = image.info
            let pixels = try image.read(PixelRect(x: 0, y: 0, width: info.width, height: info.height))
            var expected: [Float] = []
            for y in 0..<height {
                let isRedRow = letters[(y % 2) * 2] == "R" || letters[(y % 2) * 2 + 1] == "R"
                for x in 0..<width {
                    let letter = letters[(y % 2) * 2 + x % 2]
                    let name = letter == "G" ? (isRedRow ? "G1" : "G2") : String(letter)
                    if name == colour.rawValue { expected.append(Float(100 * y + x)) }
                }
            }
            #expect(pixels == expected, "\(pattern) \(colour)")
            let part = PixelRect(x: 1, y: 1, width: info.width - 2, height: info.height - 2)
            let inside = (part.y..<part.bottom).flatMap { (y: Int) -> [Float] in
                Array(pixels[(y * info.width + part.x)..<(y * info.width + part.right)])
            }
            #expect(try image.read(part) == inside)
        }
    }

    /// A frame with stars whose colours differ in brightness, and where they are, counted from 1.
    private func sky(cards: [String] = []) -> (path: String, stars: [(x: Double, y: Double)]) {
        var frame = TestFrame(width: 400, height: 300, seed: 3, noise: 3)
        var stars: [(x: Double, y: Double)] = []
        for row in 0..<4 {
            for column in 0..<6 {
                let x = 40 + 60 * Double(column) + 0.37 * Double(row)
                let y = 40 + 65 * Double(row) + 0.23 * Double(column)
                frame.addStar(x: x, y: y, flux: 60_000, sigma: 3)
                stars.append((x + 1, y + 1))
            }
        }
        return (folder.write(frame.fits(cards: cards)), stars)
    }

    @Test(arguments: BayerPattern.Colour.allCases)
    func `sources of every colour are where they are in the frame and in the sky`(
        colour: BayerPattern.Colour
    ) throws {
        let wcs = [
            "CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "CRVAL1  = 150.0", "CRVAL2  = 2.0", "CRPIX1  = 200.0",
            "CRPIX2  = 150.0", "CDELT1  = -0.0001", "CDELT2  = 0.0001",
        ]
        let (path, stars) = sky(cards: wcs)
        let transform = try #require(try FITSImage(path: path, hdu: nil).wcs)
        let layer = ImageLayer(bayer: BayerGrid(.grbg, colour))
        var configuration = ScanConfiguration()
        configuration.columns = ["ERRA_IMAGE"]
        let catalogue = try SkyScan(configuration).catalogue(of: .file(path, layer: layer))
        let sources = catalogue.sourcesInFrame
        #expect(catalogue.sources.count == sources.count && !sources.isEmpty)
        for (own, framed) in zip(catalogue.sources, sources) {
            let errors = [own, framed].compactMap(\.further?.positionVariance.xx)
            #expect(errors.count == 2 && errors[0] > 0 && errors[1] == 4 * errors[0])
        }
        #expect(sources.count == stars.count)
        for star in stars {
            let near = try #require(sources.first { hypot($0.x - star.x, $0.y - star.y) < 1 })
            #expect(hypot(near.xWindow - star.x, near.yWindow - star.y) < 0.05, "\(colour)")
            let place = try #require(transform.sky(x: near.x, y: near.y))
            #expect(abs(place.alpha - (near.alpha ?? 0)) < 1e-9 && abs(place.delta - (near.delta ?? 0)) < 1e-9)
            // A Gaussian of sigma 3, in the frame's pixels.
            #expect(abs(near.fwhm - 7.06) < 0.3, "\(near.fwhm)")
        }
    }

    @Test func `a header's pattern counts from its offsets`() {
        func pattern(_ cards: String...) -> String? {
            BayerPattern(header: cards.map { $0 + String(repeating: " ", count: 80 - $0.utf8.count) })?.rawValue
        }
        #expect(pattern("BAYERPAT= 'RGGB    '") == "RGGB")
        #expect(pattern("COLORTYP= 'gbrg    '") == "GBRG")
        #expect(pattern("BAYERPAT= 'RGGB    '", "XBAYROFF=                    1") == "GRBG")
        #expect(pattern("BAYERPAT= 'RGGB    '", "YBAYROFF=                    1") == "GBRG")
        #expect(
            pattern("BAYERPAT= 'RGGB    '", "XBAYROFF=                   -3", "YBAYROFF=                  5.0")
                == "BGGR")
        #expect(pattern("BAYERPAT= 'RGGB    '", "XBAYROFF=                1E300") == "RGGB")
        #expect(pattern("BAYERPAT= 'TRUE    '") == nil)
        #expect(pattern("EXPTIME =                  1.0") == nil)
    }

    @Test func `a frame of one row does not have the colours of the second`() {
        let path = folder.write(TestFrame(width: 9, height: 1, seed: 1).fits())
        let error = SkyError.thrown { () throws(SkyError) in
            try FITSImage(path: path, hdu: nil, layer: ImageLayer(bayer: BayerGrid(.rggb, .blue)))
        }
        #expect(error?.message == "\(path): 9 x 1 pixels are no frame of a colour camera")
    }

    @Test func `a hot pixel is sharp in its own colour only`() throws {
        var frame = TestFrame(width: 400, height: 300, seed: 3, noise: 3)
        for row in 0..<4 {
            for column in 0..<6 {
                frame.addStar(x: 40 + 60 * Double(column), y: 40 + 65 * Double(row), flux: 60_000, sigma: 3)
            }
        }
        // In even columns and rows: red, of RGGB.
        for (x, y) in [(70, 72), (190, 138), (310, 72)] { frame.pixels[y * 400 + x] += 2000 }
        let path = folder.write(frame.fits())
        for colour in BayerPattern.Colour.allCases {
            let catalogue = try SkyScan(ScanConfiguration()).catalogue(
                of: .file(path, layer: ImageLayer(bayer: BayerGrid(.rggb, colour))))
            #expect(catalogue.sources.count == (colour == .red ? 27 : 24))
            #expect(catalogue.sources.count { $0.imageFlags != 0 } == (colour == .red ? 3 : 0), "\(colour)")
        }
    }
}
