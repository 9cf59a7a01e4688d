import Base
import Fixtures
import Glibc
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// Gives parts as a node that has the files would, over no wire, and counts them.
private final class NearbyPixels: PixelSupply, @unchecked Sendable {
    // Tests of one thread.
    private let engine = SkyEngine()
    private(set) var asked: [PixelRequest] = []
    var forge: (PixelRequest, ByteBuffer) -> ByteBuffer = { $1 }
    /// Where files are that have moved.
    var places: [String: String] = [:]

    func parts(_ requests: [PixelRequest]) throws(SkyError) -> [ByteBuffer] {
        asked += requests
        var parts: [ByteBuffer] = []
        for var request in requests {
            request.file.path = places[request.file.path] ?? request.file.path
            parts.append(forge(request, try engine.part(request)))
        }
        return parts
    }
}

@Suite struct RemoteImageTests {
    let folder = TemporaryFolder()
    private let holder = PixelHolder(node: .random(), name: "h1")
    private let supply = NearbyPixels()

    private func remote(_ path: String, hdu: Int? = nil, layer: ImageLayer? = nil) throws -> RemoteImage {
        try RemoteImage(
            PixelFile(path: path, content: FileContent(of: path), hdu: hdu, layer: layer), holder: holder,
            supply: supply)
    }

    @Test func `planes, colours, masks and scaled values are the same from another node`() throws {
        let wcs = [
            "CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "CTYPE3  = 'FREQ    '", "CRVAL1  = 150.0", "CRVAL2  = 2.0",
            "CDELT1  = -0.0001", "CDELT2  = 0.0001",
        ]
        let frames = (1...3).map { TestFrame(width: 700, height: 90, seed: $0) }
        let path = folder.write(FITSArray(planes: frames, cards: wcs).primary)
        var flags = ImageLayer(plane: 3)
        flags.flags = MaskRule(bits: 4)
        var scaled = ImageLayer(plane: 2)
        scaled.scale = PixelScale(offset: 500, exponent: -3)
        for layer in [ImageLayer(plane: 2), ImageLayer(plane: 3, bayer: BayerGrid(.gbrg, .greenOfRed)), flags, scaled] {
            let (here, there) = (
                try FITSImage(path: path, hdu: nil, layer: layer), try remote(path, layer: layer)
            )
            #expect(there.info == here.info)
            let rect = PixelRect(x: 100, y: 3, width: 200, height: 40)
            #expect(try there.read(rect).map(\.bitPattern) == here.read(rect).map(\.bitPattern))
            let places = (there.wcs?.sky(x: 60, y: 20), here.wcs?.sky(x: 60, y: 20))
            #expect(places.0 != nil && places.0?.alpha == places.1?.alpha && places.0?.delta == places.1?.delta)
        }
        let hostile = PixelFile(path: path, content: try FileContent(of: path), hdu: 0, layer: ImageLayer(plane: .max))
        #expect(PixelRequest(file: hostile, part: .header).objection?.contains("plane") == true)
    }

    @Test func `any rectangle has the pixels of the file, and no tile is asked for twice in a row`() throws {
        var frame = TestFrame(width: 1150, height: 700, seed: 2)
        frame.addStars(40)
        frame.erase(PixelRect(x: 500, y: 300, width: 40, height: 30))
        let path = folder.write(frame.fits())
        let (here, there) = (try FITSImage(path: path, hdu: nil), try remote(path))
        #expect(there.info == here.info && there.header == here.header)
        var random = SplitMix64(seed: 4)
        for _ in 0..<50 {
            let (x, y) = (Int.random(in: 0..<1150, using: &random), Int.random(in: 0..<700, using: &random))
            let rect = PixelRect(
                x: x, y: y, width: .random(in: 1...1150 - x, using: &random),
                height: .random(in: 1...700 - y, using: &random))
            #expect(try there.read(rect).map(\.bitPattern) == here.read(rect).map(\.bitPattern))
        }
        // The header, and three by two tiles.
        #expect(supply.asked.count == 7)
        #expect(throws: SkyError.self) { try there.read(PixelRect(x: 1149, y: 0, width: 2, height: 1)) }
    }

    @Test func `an image with more tiles than the cache holds has the same pixels`() throws {
        var frame = TestFrame(width: 1, height: 1, seed: 3)
        (frame.width, frame.height) = (5200, 2100)
        frame.pixels = (0..<5200 * 2100).map { Float($0) }
        let path = folder.write(frame.fits())
        let there = try remote(path)
        #expect(try there.read(frame.rect) == frame.pixels)
        let part = PixelRect(x: 300, y: 400, width: 4500, height: 1500)
        #expect(try there.read(part) == frame.cut(part))
    }

    @Test func `a scan of a remote image finds what a scan of the file finds`() throws {
        var frame = TestFrame(width: 700, height: 600, seed: 5)
        frame.addStars(60)
        let path = folder.write(frame.fits())
        let content = try FileContent(of: path)
        let (near, far) = (SkyEngine(), SkyEngine(supply: supply))
        var configuration = ScanConfiguration()
        configuration.sectorSize = 256
        let request = SkyRequest(image: ImageReference(path: path, hdu: nil), configuration: configuration)
        /// The whole plan, its header by an engine that has the file.
        func catalogue(_ perform: (SkyWork) throws -> SkyResult) throws -> Catalogue? {
            var phases = ScanPhases(request)
            var (number, count) = (0, phases.begin().newWork)
            while number < count {
                let work = try #require(phases.work(number))
                count += phases.completed(number, try number == 0 ? header : perform(work)).newWork
                number += 1
            }
            return phases.catalogue
        }
        let header = try SkyResult.inspected(near.inspect(path: path, hdu: nil, withContent: true))
        let expected = try #require(try catalogue { try near.perform($0) })
        supply.places[path] = folder.path + "/moved.fits"
        #expect(rename(path, folder.path + "/moved.fits") == 0)
        let found = try #require(
            try catalogue { work in try far.with(content, of: path, holder: holder) { try far.perform(work) } })
        #expect(found.sources.count > 30 && found.sources == expected.sources)
        #expect(throws: SkyError.self, "nobody else has it") {
            try far.with(content, of: path) { try far.pixels(path: path, hdu: nil, rect: frame.rect) }
        }
    }

    @Test func `forged pixels and headers are errors, and do not crash`() throws {
        let frame = TestFrame(width: 600, height: 600, seed: 6)
        let path = folder.write(frame.fits())
        let there = try remote(path)
        supply.forge = { _, bytes in bytes.getSlice(at: 0, length: bytes.readableBytes / 2) ?? bytes }
        #expect(SkyError.thrown { () throws(SkyError) in try there.read(frame.rect) }?.message.contains("h1") == true)
        #expect(throws: SkyError.self) { try remote(path) }
        supply.forge = { _, bytes in
            guard var header = try? WireCoder.decode(RemoteHeader.self, from: bytes) else { return bytes }
            (header.info.width, header.info.height) = (.max, .max)
            return (try? WireCoder.encode(header)) ?? bytes
        }
        #expect(throws: SkyError.self) { try remote(path) }
    }

    @Test func `a node that does not know the file's content gets no pixels`() throws {
        let path = folder.write(TestFrame(width: 600, height: 600, seed: 7).fits())
        let other = folder.write(TestFrame(width: 600, height: 600, seed: 8).fits(), "other.fits")
        let error = SkyError.thrown { () throws(SkyError) in
            try RemoteImage(
                PixelFile(path: path, content: FileContent(of: other), hdu: nil), holder: holder, supply: supply)
        }
        #expect(error?.kind == .unavailable)
    }

    @Test func `remote coordinates with distortion tables, and the reason for their lack, are the file's`() throws {
        let path = folder.write(DistortedFrame.fits)
        let there = try remote(path)
        let wcs = try #require(there.wcs)
        let here = try #require(try FITSImage(path: path, hdu: nil).wcs)
        for (x, y, _, _) in DistortedFrame.places {
            #expect(try #require(wcs.sky(x: x, y: y)) == #require(here.sky(x: x, y: y)))
        }
        // Without its tables they would be wrong.
        supply.forge = { _, bytes in
            guard var header = try? WireCoder.decode(RemoteHeader.self, from: bytes) else { return bytes }
            header.lookupTables?.removeLast()
            return (try? WireCoder.encode(header)) ?? bytes
        }
        #expect(try remote(path).wcs == nil)
        supply.forge = { $1 }
        let linear = ["CTYPE1  = 'LINEAR'", "CTYPE2  = 'LINEAR'"]
        let other = try remote(folder.write(DistortedFrame.frame.fits(cards: linear), "other.fits"))
        #expect(other.wcs == nil && other.info.missingCoordinates == "the header's are linear (LINEAR, LINEAR)")
    }

    @Test func `remote coordinates from the primary header are the file's`() throws {
        let coordinates = [
            "CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "CRVAL1  = 10.0", "CRVAL2  = 41.0", "CRPIX1  = 1.0",
            "CRPIX2  = 1.0", "CDELT1  = -0.0003", "CDELT2  = 0.0003",
        ]
        let primary = FITSBytes.header(["BITPIX  = 8", "NAXIS   = 0", "EXTEND  = T"] + coordinates)
        let image = FITSBytes.header(
            ["BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 4", "NAXIS2  = 4", "PCOUNT  = 0", "GCOUNT  = 1"],
            first: "XTENSION= 'IMAGE   '")
        let path = folder.write(primary + image + FITSBytes.padded([UInt8](repeating: 9, count: 16)))
        let (here, there) = (try FITSImage(path: path, hdu: nil), try remote(path))
        let (sky, same) = (try #require(here.wcs), try #require(there.wcs))
        #expect(sky.sky(x: 3, y: 2)?.alpha == same.sky(x: 3, y: 2)?.alpha)
        #expect(sky.sky(x: 3, y: 2)?.delta == same.sky(x: 3, y: 2)?.delta)
    }
}
