import Base
import Fixtures
import Foundation
import Testing

@testable import Sky

/// The documentation's examples, and the library's front door.
@Suite struct ScanningAnImageTests {
    private let folder = TemporaryFolder()

    private func frame() -> TestFrame {
        var frame = TestFrame(width: 300, height: 200, seed: 41)
        for index in 0..<20 {
            frame.addStar(
                x: 30 + Double(index % 5) * 60, y: 30 + Double(index / 5) * 45, flux: 1000 * Double(index + 3))
        }
        return frame
    }

    @Test func `the examples of the article work`() throws {
        let frame = frame()
        let path = folder.write(frame.fits())
        let stars = try brightStars(in: path)
        #expect(stars.count >= 18)
        #expect(stars.map(\.fluxAuto) == stars.map(\.fluxAuto).sorted(by: >))
        #expect(stars[0].fluxesAperture.count == 2)
        #expect(try crowding(of: frame.pixels, width: 300, height: 200) >= 20)
        try writeCatalogue(of: path, to: folder.path + "/stars")
        try FITSSniff.check(path: folder.path + "/stars.cat.fits")
        let regions = try String(contentsOfFile: folder.path + "/stars.reg", encoding: .utf8)
        #expect(regions.contains("ellipse("))
    }

    @Test func `a file and the same pixels in memory give the same catalogue, in sectors or whole`() throws {
        let frame = frame()
        var scan = SkyScan()
        (scan.configuration.sectorSize, scan.configuration.meshSize) = (128, 32)
        let file = try scan.catalogue(of: .file(folder.write(frame.fits())))
        let memory = try scan.catalogue(of: .pixels(width: 300, height: 200, frame.pixels))
        #expect(file.sources == memory.sources && !file.sources.isEmpty)
        scan.configuration.sectorSize = nil
        let whole = try scan.catalogue(of: .pixels(width: 300, height: 200, frame.pixels))
        #expect(whole.sources.map(\.fluxAuto) == memory.sources.map(\.fluxAuto))
    }

    @Test func `coordinates come from the cards that are given`() throws {
        let cards = [
            "CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "CRVAL1  = 150.0", "CRVAL2  = 2.0", "CRPIX1  = 150.5",
            "CRPIX2  = 100.5", "CD1_1   = -0.0001", "CD1_2   = 0.0", "CD2_1   = 0.0", "CD2_2   = 0.0001",
        ]
        let frame = frame()
        let found = try SkyScan().catalogue(of: .pixels(width: 300, height: 200, frame.pixels, header: cards)).sources
        let source = try #require(found.max { $0.fluxAuto < $1.fluxAuto })
        #expect(abs(try #require(source.delta) - (2 + (source.y - 100.5) * 1e-4)) < 1e-5)
    }

    @Test func `images that cannot be scanned are refused`() throws {
        #expect(throws: SkyError.self) { try SkyScan().catalogue(of: .pixels(width: 3, height: 3, [1, 2])) }
        #expect(throws: SkyError.self) { try SkyScan().catalogue(of: .pixels(width: .max, height: .max, [])) }
        #expect(throws: SkyError.self) { try SkyScan().catalogue(of: .file(folder.path + "/missing.fits")) }
        var configuration = ScanConfiguration()
        configuration.minimumArea = 0
        #expect(throws: SkyError.self) {
            try SkyScan(configuration).catalogue(of: .pixels(width: 1, height: 1, [1]))
        }
        let empty = try SkyScan().catalogue(of: .pixels(width: 70, height: 70, [Float](repeating: .nan, count: 4900)))
        #expect(empty.sources.isEmpty)
    }

    @Test func `the article shows the code that was compiled`() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let source = try String(contentsOf: tests.appending(path: "ScanningAnImage.swift"), encoding: .utf8)
        let root = tests.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let path = "Sources/Sky/Sky.docc/ScanningAnImage.md"
        let article = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        let blocks = article.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(blocks.count == 3)
        for block in blocks { #expect(source.contains(block), "\(block)") }
    }
}
