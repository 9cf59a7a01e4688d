import Base
import CTurboJPEG
import Fixtures
import Testing

@testable import Sky

@Suite struct PictureTests {
    private func black(_ width: Int, _ height: Int, binning: Int = 1) throws(SkyError) -> ImagePreview {
        var preview = try ImagePreview(width: width, height: height) { (rect) throws(SkyError) in
            [Float](repeating: 0, count: rect.width * rect.height)
        }
        preview.binning = binning
        for index in preview.pixels.indices { preview.pixels[index] = 0 }
        return preview
    }

    /// The picture as libjpeg-turbo reads it back: rows from the top, three bytes a pixel.
    private func decoded(_ picture: Picture) throws -> [UInt8] {
        let file = try picture.jpeg()
        let codec = tjInitDecompress()
        defer { tjDestroy(codec) }
        var (width, height, sampling, space): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        #expect(tjDecompressHeader3(codec, file, UInt(file.count), &width, &height, &sampling, &space) == 0)
        #expect(Int(width) == picture.width && Int(height) == picture.height)
        #expect(sampling == Int32(TJSAMP_444.rawValue), "thin lines have their colour")
        var bytes = [UInt8](repeating: 0, count: picture.width * picture.height * 3)
        #expect(
            tjDecompress2(codec, file, UInt(file.count), &bytes, width, 0, height, Int32(TJPF_RGB.rawValue), 0) == 0)
        return bytes
    }

    private func source(_ x: Double, _ y: Double, radius: Double, flags: Int = 0) -> Source {
        var source = Source(x: x, y: y, sector: 0)
        source.a = radius / 3.5
        source.b = radius / 3.5
        source.kronRadius = 3.5
        source.flags = flags
        return source
    }

    @Test func `a small image is enlarged and a large one is not`() throws {
        #expect(try Picture(black(300, 200), sources: []).width == 900)
        #expect(try Picture(black(301, 200), sources: []).width == 903)
        #expect(try Picture(black(1000, 500), sources: []).height == 500)
    }

    @Test func `the image's first row is at the bottom`() throws {
        // Eight rows, because JPEG takes eight at a time.
        var preview = try black(900, 16)
        for pixel in 0..<900 * 8 { preview.pixels[pixel] = 200 }
        for preview in [preview, try preview.encoded()] {
            let bytes = try decoded(Picture(preview, sources: []))
            #expect(bytes.prefix(900 * 8 * 3).allSatisfy { $0 <= 1 })
            #expect(bytes.suffix(900 * 8 * 3).allSatisfy { (199...201).contains($0) })
        }
    }

    @Test func `a file's colours are close to those that were drawn`() throws {
        var preview = try black(1000, 1000)
        for index in preview.pixels.indices { preview.pixels[index] = UInt8(index % 1000 / 4) }
        #expect(
            try decoded(Picture(preview, sources: [])).enumerated().allSatisfy { place, value in
                abs(Int(value) - place / 3 % 1000 / 4) <= 3
            })
        let sources = (0..<40).map { source(Double($0 * 25), Double($0 * 25), radius: 40, flags: $0 % 2) }
        let picture = try Picture(preview, sources: sources)
        let read = try decoded(picture)
        // A row begins with the number of a filter.
        let row = 1 + picture.width * 3
        let drawn = picture.raster.rows.enumerated().filter { $0.offset % row != 0 }.map(\.element)
        let differences = read.indices.map { abs(Int(read[$0]) - Int(drawn[$0])) }
        #expect(differences.max() ?? 0 < 80)
        #expect(Double(differences.reduce(0, +)) / Double(differences.count) < 1.5)
    }

    @Test func `a mark is a ring around its source`() throws {
        let picture = try Picture(black(1000, 1000), sources: [source(301, 201, radius: 20)])
        let bytes = try decoded(picture)
        func blue(_ x: Int, _ y: Int) -> UInt8 { bytes[((999 - y) * 1000 + x) * 3 + 2] }
        // Pixel 301 of FITS is column 300 from 0.
        #expect(blue(300, 200) == 0)
        for (x, y) in [(320, 200), (280, 200), (300, 220), (300, 180)] { #expect(blue(x, y) > 150, "\(x) \(y)") }
        #expect(blue(330, 200) == 0 && blue(300, 240) == 0)
    }

    @Test func `an ellipse leans as its angle says`() throws {
        var leaning = source(500, 500, radius: 60)
        leaning.b /= 4
        leaning.theta = 45
        let bytes = try decoded(Picture(black(1000, 1000), sources: [leaning]))
        func lit(_ x: Int, _ y: Int) -> Bool {
            (-2...2).contains { dx in (-2...2).contains { dy in bytes[((999 - y + dy) * 1000 + x + dx) * 3 + 2] > 60 } }
        }
        // 60 along the diagonal that rises to the right, 15 across it.
        #expect(lit(499 + 42, 499 + 42) && lit(499 - 42, 499 - 42))
        #expect(!lit(499 + 42, 499 - 42))
        #expect(lit(499 + 11, 499 - 11))
    }

    @Test func `flagged sources have another colour`() throws {
        let bytes = try decoded(
            Picture(
                black(1000, 1000), sources: [source(101, 501, radius: 10), source(801, 501, radius: 10, flags: 2)]))
        func colour(_ x: Int) -> (red: UInt8, blue: UInt8) {
            let index = (499 * 1000 + x) * 3
            return (bytes[index], bytes[index + 2])
        }
        #expect(colour(110).blue > colour(110).red)
        #expect(colour(810).red > colour(810).blue)
    }

    @Test func `marks follow the binning`() throws {
        let bytes = try decoded(Picture(black(1000, 1000, binning: 4), sources: [source(2002.5, 2002.5, radius: 80)]))
        #expect(bytes[(499 * 1000 + 520) * 3 + 2] > 100)
    }

    @Test func `sectors are outlined faintly`() throws {
        let core = PixelRect(x: 0, y: 0, width: 500, height: 500)
        let bytes = try decoded(
            Picture(black(1000, 1000), sources: [], sectors: [Sector(index: 0, core: core, padded: core)]))
        #expect(20...80 ~= bytes[(800 * 1000 + 500) * 3])
        #expect(20...80 ~= bytes[(499 * 1000 + 100) * 3])
        #expect(bytes[(200 * 1000 + 500) * 3] == 0)
    }

    @Test func `hostile sources and sectors are drawn or skipped`() throws {
        var odd = source(.nan, 5, radius: 10)
        let far = source(1e300, -1e300, radius: 10)
        let huge = source(500, 500, radius: 1e300)
        var flat = source(500, 500, radius: 10)
        flat.b = 0
        flat.theta = .infinity
        odd.a = .nan
        var shapeless = source(5, 5, radius: .nan)
        shapeless.theta = .nan
        let wild = PixelRect(x: .max, y: .min, width: .max, height: .max)
        let picture = try Picture(
            black(1000, 1000), sources: [odd, far, huge, flat, shapeless],
            sectors: [Sector(index: 0, core: wild, padded: wild)])
        #expect(try picture.jpeg().count > 100)
    }

    @Test func `a preview that contradicts itself is refused`() throws {
        var short = try black(20, 20)
        short.pixels.removeLast()
        #expect(throws: SkyError.self) { try Picture(short, sources: []) }
        var zero = try black(20, 20)
        zero.binning = 0
        #expect(throws: SkyError.self) { try Picture(zero, sources: []) }
        var vast = try black(20, 20)
        vast.width = .max
        #expect(throws: SkyError.self) { try Picture(vast, sources: []) }
    }

    @Test func `a damaged picture is refused`() throws {
        let sound = try black(64, 40).encoded()
        #expect(try sound.greys().count == 64 * 40)
        for change: (inout ImagePreview) -> Void in [
            { $0.jpeg?.removeLast(20) }, { $0.jpeg = [] }, { $0.jpeg = [1, 2, 3] },
            {
                $0.width = 40; $0.height = 64
            },
            { $0.pixels = [1] }, { $0.jpeg = try? Picture(black(64, 40), sources: []).jpeg() },
        ] {
            var preview = sound
            change(&preview)
            let error = #expect(throws: SkyError.self) { try Picture(preview, sources: []) }
            #expect(error?.message.contains("\n") == false)
        }
    }

    @Test func `whatever stands in a picture's file, it is drawn or refused`() throws {
        var preview = try black(96, 64)
        for index in preview.pixels.indices { preview.pixels[index] = UInt8(truncatingIfNeeded: index * index) }
        let sound = try preview.encoded()
        let file = try #require(sound.jpeg)
        var (random, refused) = (SplitMix64(seed: 3), 0)
        for _ in 0..<2000 {
            var damaged = sound
            for _ in 0...random.next() % 4 {
                let place = Int(random.next() % UInt64(file.count))
                damaged.jpeg?[place] = UInt8(truncatingIfNeeded: random.next())
            }
            if (try? damaged.greys().count == 96 * 64) != true { refused += 1 }
        }
        // Bytes of the coded pixels may be others and still be a picture.
        #expect((200..<2000).contains(refused))
    }

    @Test func `a picture is written completely, and no other file`() throws {
        let folder = ScratchFolder()
        let picture = try Picture(black(100, 100), sources: [source(50, 50, radius: 5)])
        try picture.write(to: folder.file("a.jpg"))
        #expect(folder.names == ["a.jpg"])
        #expect(folder.bytes("a.jpg") == (try picture.jpeg()))
        #expect(throws: SkyError.self) { try picture.write(to: folder.file("no/a.jpg")) }
    }
}
