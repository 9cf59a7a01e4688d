import Fixtures
import Sky
import Testing

@testable import SkyNode

/// The files of one image, and the catalogue for standard output.
struct ScanFilesTests {
    private func catalogue(_ count: Int = 2) -> Catalogue {
        let sources = (0..<count).map { Source(x: Double($0) + 10, y: 20, sector: 0) }
        return Catalogue(info: ScanFixture.info(), sources: sources, truncated: 0, filter: .pyramid, injected: nil)
    }

    private func files(_ stem: String, _ formats: [CatalogueFormat]) -> ScanFiles {
        ScanFiles(
            name: "a.fits", stem: stem, formats: formats, configuration: ScanConfiguration(), catalogue: catalogue())
    }

    @Test func `without a picture only the catalogues are written, in the order of their formats`() async throws {
        let folder = ScratchFolder()
        let written = try await files(folder.file("a"), [.regions, .csv, .fits]).write(
            preview: nil, runs: [], facts: [])
        #expect(written.paths == ["a.reg", "a.csv", "a.cat.fits"].map { folder.file($0) })
        #expect(folder.names == ["a.cat.fits", "a.csv", "a.reg"], "and no temporary")
        #expect(folder.text("a.csv").split(separator: "\n").count { !$0.hasPrefix("#") } == 3, "a heading and two rows")
        #expect(CatalogueSniff.isCatalogue(folder.file("a.cat.fits")))
    }

    private func preview() throws -> ImagePreview {
        let info = ScanFixture.info()
        return try ImagePreview(width: info.width, height: info.height, maximumSide: 64) { rect throws(SkyError) in
            [Float](repeating: 1, count: rect.width * rect.height)
        }
    }

    @Test func `the pictures and the report follow the catalogues`() async throws {
        let folder = ScratchFolder()
        let written = try await files(folder.file("a"), [.csv]).write(preview: preview(), runs: [], facts: [])
        #expect(written.paths == ["a.csv", "a.jpg", "a.sectors.png", "a.html"].map { folder.file($0) })
        #expect(folder.names == ["a.csv", "a.html", "a.jpg", "a.sectors.png"], "and no temporary")
    }

    @Test func `a file that cannot be written is named, a catalogue before a picture`() async throws {
        for (formats, name) in [([CatalogueFormat.csv], "/nonexistent/a.csv"), ([], "/nonexistent/a.jpg")] {
            let error = await #expect(throws: SkyError.self) {
                try await files("/nonexistent/a", formats).write(preview: preview(), runs: [], facts: [])
            }
            #expect(error?.message.contains(name) == true)
        }
    }

    @Test func `a catalogue's section has the name and the plane of its image`() {
        var item = catalogue()
        item.info.cube = ImageCube(planes: 3, isColourImage: true)
        let section = ScanFiles(
            name: "a.fits[plane 1]", stem: "a", formats: [], configuration: ScanConfiguration(), catalogue: item
        ).section
        #expect(section.image == "a.fits[plane 1]" && section.plane == 1)
        #expect(files("a", []).section.plane == nil)
    }

    @Test(arguments: CatalogueFormat.allCases)
    func `standard output has the bytes of a file`(format: CatalogueFormat) throws {
        let table = CatalogueTable([files("a", []).section], configuration: ScanConfiguration())
        let bytes = try table.bytes(format)
        let folder = ScratchFolder()
        try table.write(format, to: folder.file("a"))
        let written = folder.bytes("a")
        #expect(bytes.count > 20)
        // A FITS table has the time at which it was written.
        if [.fits, .ldac].contains(format) {
            #expect(bytes.count == written.count && bytes.starts(with: "SIMPLE  =".utf8))
        } else {
            #expect(bytes == written)
        }
    }
}
