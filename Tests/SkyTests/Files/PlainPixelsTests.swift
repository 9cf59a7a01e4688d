import Base
import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct PlainPixelsTests {
    private let folder = TemporaryFolder()

    /// An image of any bytes, with cards behind the sizes.
    private func path(_ sizes: [Int], bitpix: Int, _ bytes: [UInt8], cards: [String] = []) -> String {
        let axes = sizes.enumerated().map { "NAXIS\($0.offset + 1)  = \($0.element)" }
        return folder.write(
            FITSBytes.header(["BITPIX  = \(bitpix)", "NAXIS   = \(sizes.count)"] + axes + cards)
                + FITSBytes.padded(bytes))
    }

    private func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = RandomStream(seed: seed, purpose: 3)
        // Every exponent, and many zeros, infinities and numbers too small to be normal.
        return (0..<count).map { _ in
            let byte = UInt8(truncatingIfNeeded: random.next())
            return [byte, byte, byte, 0, 0x7F, 0x80, 0xFF][Int(random.next() % 7)]
        }
    }

    /// Compares what is read without cfitsio with what cfitsio reads.
    private func expectSame(_ path: String, sizes: [Int], plane: Int? = nil) throws {
        let image = try FITSImage(path: path, hdu: 0, layer: ImageLayer(plane: plane))
        let file = try FITSFile(path: path)
        let shape = try file.moveToImage(hdu: 0)
        let place = shape.place(ofPlane: plane ?? 1)
        let plain = try #require(file.plainPixels(shape, plane: place))
        let (width, height) = (sizes[0], sizes[1])
        for rect in [
            PixelRect(x: 0, y: 0, width: width, height: height),
            PixelRect(x: 3, y: 5, width: width - 7, height: height - 6),
            PixelRect(x: width - 1, y: height - 1, width: 1, height: 1),
        ] {
            var expected = [Float](repeating: 0, count: rect.width * rect.height)
            try #require(file.read(FITSFile.Part(rect: rect, plane: place), into: &expected) == 0)
            expected = expected.map { abs($0) < 1e30 ? $0 : .nan }
            for found in [try #require(plain.read(rect)), try image.read(rect)] {
                #expect(
                    found.elementsEqual(expected) { $0.isNaN ? $1.isNaN : $0.bitPattern == $1.bitPattern }, "\(rect)")
            }
        }
    }

    @Test func `floats are those of cfitsio, whatever their bits`() throws {
        for seed in 1...UInt64(5) {
            try expectSame(path([301, 120], bitpix: -32, bytes(301 * 120 * 4, seed: seed)), sizes: [301, 120])
        }
        try expectSame(
            path([301, 120], bitpix: -32, bytes(301 * 480, seed: 6), cards: ["BSCALE  = 1.0"]), sizes: [301, 120])
    }

    @Test func `integers are those of cfitsio, with and without a zero point`() throws {
        for cards in [[], ["BZERO   = 32768", "BSCALE  = 1"], ["BZERO   = -0.3"], ["BZERO   = 1E29"]] {
            try expectSame(path([97, 64], bitpix: 16, bytes(97 * 128, seed: 1), cards: cards), sizes: [97, 64])
        }
    }

    @Test func `a plane of a cube is read at its place`() throws {
        for plane in 1...6 {
            try expectSame(
                path([33, 20, 3, 2], bitpix: -32, bytes(33 * 20 * 6 * 4, seed: 1)), sizes: [33, 20], plane: plane)
        }
    }

    @Test func `images with other rules are left to cfitsio`() throws {
        let sizes = [8, 8]
        let others: [(Int, [String])] = [
            (16, ["BLANK   = 0"]), (16, ["BSCALE  = 2"]), (-32, ["BZERO   = 1"]), (16, ["BZERO   = 'zero'"]),
            (16, ["BLANK   = 'none'"]), (8, []), (32, []), (-64, []),
        ]
        for (bitpix, cards) in others {
            let file = try FITSFile(path: path(sizes, bitpix: bitpix, bytes(512, seed: 1), cards: cards))
            #expect(file.plainPixels(try file.moveToImage(hdu: 0), plane: []) == nil, "\(bitpix) \(cards)")
        }
    }

    @Test func `a file that ends too soon has no pixels there`() throws {
        let path = path([100, 100], bitpix: -32, bytes(40_000, seed: 1))
        let file = try FITSFile(path: path)
        let plain = try #require(file.plainPixels(try file.moveToImage(hdu: 0), plane: []))
        #expect(truncate(path, 2880 + 20_000) == 0)
        #expect(plain.read(PixelRect(x: 0, y: 0, width: 100, height: 50)) != nil)
        #expect(plain.read(PixelRect(x: 0, y: 0, width: 100, height: 51)) == nil)
        #expect(plain.read(PixelRect(x: 90, y: 49, width: 10, height: 2)) == nil)
    }
}
