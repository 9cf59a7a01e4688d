import Foundation
import Testing

@testable import Sky

@Suite struct ScanReportTests {
    private let info = ImageInfo(width: 200, height: 100, bitpix: -32, hdu: 0, hasWCS: false)

    private func catalogue(_ magnitudes: [Double]) -> Catalogue {
        let sources = magnitudes.enumerated().map { index, magnitude in
            var source = Source(x: Double(index), y: 1, sector: 0)
            source.fluxAuto = pow(10, -0.4 * magnitude)
            source.flags = index % 2 * 2
            return source
        }
        var catalogue = Catalogue(merging: [], info: info)
        catalogue.sources = sources
        return catalogue
    }

    private func page(_ catalogue: Catalogue, image: String = "m13.fits", runs: [SectorRun] = []) -> String {
        let table = CatalogueTable(
            [.init(image: image, sources: catalogue.sources)], configuration: ScanConfiguration())
        let report = ScanReport(catalogue, table: table, runs: runs, facts: [(name: "time", value: "1.00 s")])
        return String(decoding: report.html(picture: [1, 2, 3], map: nil), as: UTF8.self)
    }

    @Test func `the page holds what was found, and needs no other file`() {
        let runs = [
            SectorRun(sector: 0, node: "vela", duration: .milliseconds(250), sources: 2),
            SectorRun(sector: 1, node: "", duration: .zero, sources: 1),
        ]
        let page = page(catalogue([10, 10.1, 12.2]), runs: runs)
        #expect(page.contains("<th>sources</th><td>3</td>") && page.contains("<th>time</th><td>1.00 s</td>"))
        #expect(page.contains("<th>none</th><td>2</td>") && page.contains("<th>2 · deblended</th><td>1</td>"))
        #expect(page.contains("data:image/jpeg;base64,AQID"))
        #expect(page.contains("vela") && page.contains("0.250 s") && page.contains("earlier results"))
        #expect(page.contains("<th>THRESH</th>"))
        #expect(page.components(separatedBy: "<rect ").count - 1 == 5, "from 10 to 12 in halves")
        #expect(!page.contains("http"))
    }

    @Test func `the page links to the files beside it, whatever their names`() {
        let table = CatalogueTable(
            [.init(image: "m13.fits", sources: [])], configuration: ScanConfiguration())
        let report = ScanReport(
            catalogue([]), table: table, runs: [],
            others: [("since <old>", "m 13 \"a\":?.changes.html"), ("stars", "m13.injection.svg")])
        let page = String(decoding: report.html(picture: nil, map: nil), as: UTF8.self)
        #expect(page.contains("<a href=\"m%2013%20%22a%22%3A%3F.changes.html\">since &lt;old&gt;</a>"), "\(page)")
        #expect(page.contains("<a href=\"m13.injection.svg\">stars</a>"))
    }

    @Test func `the page says where the time went, with a bar for each step`() {
        let times = ScanTimes(
            steps: [
                .init(name: "sectors", seconds: 2, note: "last on <b>", isBeside: false),
                .init(name: "write", seconds: 0.5, note: "", isBeside: true),
                .init(name: "fetch", seconds: 1, note: "", isBeside: false),
            ],
            stages: ["read", "other"],
            nodes: [.init(name: "<vela>", tasks: 7, busy: "1.5 of 2", seconds: [0.25, 1])], remarks: ["1 < 2."])
        func page(_ times: ScanTimes?) -> String {
            var report = ScanReport(
                catalogue([]),
                table: CatalogueTable([.init(image: "a", sources: [])], configuration: ScanConfiguration()), runs: [])
            report.times = times
            return String(decoding: report.html(picture: nil, map: nil), as: UTF8.self)
        }
        let text = page(times)
        #expect(text.contains("<h2>Time</h2>") && text.contains("last on &lt;b&gt;") && text.contains("&lt;vela&gt;"))
        #expect(text.contains("width: 18.00em") && text.contains("bar beside\" style=\"width: 4.50em"))
        #expect(text.contains("<th>together</th><td class=\"number\">3.00</td>"), "what ran beside does not count")
        #expect(text.contains("<td class=\"number\">0.25</td><td class=\"number\">1.00</td>"))
        #expect(text.contains("<p>1 &lt; 2.</p>"))
        #expect(!page(nil).contains("<h2>Time</h2>"))
        let none = ScanTimes(
            steps: [.init(name: "fetch", seconds: 0, note: "", isBeside: false)], stages: [], nodes: [], remarks: [])
        #expect(page(none).contains("width: 0.00em") && !page(none).contains("nan"))
    }

    @Test func `names are escaped as text`() {
        let page = page(catalogue([]), image: "<script>alert(1)</script>")
        #expect(!page.contains("<script>") && page.contains("&lt;script&gt;"))
        #expect(page.contains("No source has a magnitude.") && page.contains("No sector is done."))
    }

    @Test func `a damaged magnitude does not make an endless drawing`() throws {
        var broken = catalogue([10])
        broken.sources[0].fluxAuto = 1e-300
        broken.sources.append(Source(x: 1, y: 1, sector: 0))
        broken.sources[1].fluxAuto = 1e300
        #expect(page(broken).components(separatedBy: "<rect ").count - 1 == 80)
    }

    @Test func `a sector has its node's colour, an earlier result is grey, a missing one is hatched`() throws {
        var configuration = ScanConfiguration()
        configuration.sectorSize = 64
        let grid = try SectorGrid(info: info, configuration: configuration)
        #expect(grid.sectors.count == 8)
        let runs = [
            SectorRun(sector: 0, node: "a", duration: .zero, sources: 0),
            SectorRun(sector: 1, node: "b", duration: .zero, sources: 0),
            SectorRun(sector: 2, node: "", duration: .zero, sources: 0),
            SectorRun(sector: 4, node: "a", duration: .seconds(2), sources: 0),
        ]
        let map = SectorMap(grid, runs: runs)
        #expect(map.width == 800 && map.height == 400)
        // The first sector is below, at the left.
        func colour(_ column: Int, _ row: Int) -> [UInt8] {
            map.bytes(x: column * 256 + 100, y: 399 - row * 256 - 100)
        }
        #expect(colour(0, 0) == [87, 181, 232] && colour(1, 0) == [230, 158, 0])
        #expect(colour(2, 0) == [184, 184, 184])
        #expect(zip(colour(0, 1), colour(0, 0)).allSatisfy { $0 < $1 }, "the slowest is the darkest")
        let missing = Set((0..<24).map { map.bytes(x: 256 + 100 + $0, y: 20) })
        #expect(missing.count == 2)
    }
}
