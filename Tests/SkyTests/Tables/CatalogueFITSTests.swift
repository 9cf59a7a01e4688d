import Base
import CCFITSIO
import Fixtures
import Testing

@testable import Sky

@Suite struct CatalogueFITSTests {
    /// A column of the table as numbers, NaN where it has none; read by its name, as TOPCAT and astropy do.
    private func column(_ name: String, in path: String) -> [Double] {
        var file: UnsafeMutablePointer<fitsfile>?
        var status: Int32 = 0
        ffdkopn(&file, path, READONLY, &status)
        defer { ffclos(file, &status) }
        ffmahd(file, 2, nil, &status)
        var number: Int32 = 0
        var text = Array(name.utf8CString)
        ffgcno(file, 1, &text, &number, &status)
        var rows = 0
        ffgnrw(file, &rows, &status)
        var values = [Double](repeating: -1, count: rows)
        var null = Double.nan
        var any: Int32 = 0
        ffgcv(file, TDOUBLE, number, 1, 1, Int64(rows), &null, &values, &any, &status)
        return status == 0 ? values : []
    }

    @Test func `the table reads back`() throws {
        let folder = ScratchFolder()
        let path = folder.file("a.cat.fits")
        let sources = (0..<500).map { index in
            var source = Source(x: Double(index) + 0.123456789, y: 1, sector: index % 7)
            source.alpha = 150.123456789
            source.fluxAuto = Double(index) * 1.5
            source.flags = index % 4
            return source
        }
        var configuration = ScanConfiguration()
        configuration.zeroPoint = 30
        try CatalogueTable([.init(image: "a", sources: sources)], configuration: configuration).writeFITS(to: path)
        #expect(column("NUMBER", in: path) == (1...500).map(Double.init))
        #expect(column("X_IMAGE", in: path) == sources.map { $0.x })
        #expect(column("ALPHA_J2000", in: path) == sources.map { $0.alpha ?? 0 })
        let declinations = column("DELTA_J2000", in: path)
        #expect(declinations.count == 500 && declinations.allSatisfy { $0.isNaN })
        #expect(column("FLUX_AUTO", in: path) == sources.map { $0.fluxAuto })
        #expect(column("FLAGS", in: path) == sources.map { Double($0.flags) })
        let magnitudes = column("MAG_AUTO", in: path)
        #expect(magnitudes[0].isNaN)
        #expect(abs(magnitudes[400] - (30 - 2.5 * 2.7781513)) < 1e-5)
    }

    @Test func `a text that is longer than a card is whole in the header`() throws {
        let folder = ScratchFolder()
        let path = folder.file("a.cat.fits")
        let name = String(repeating: "night/", count: 30) + "a.fits"
        try CatalogueTable([.init(image: name, sources: [])], configuration: ScanConfiguration()).writeFITS(to: path)
        #expect(text("ARITHM", in: path) == Arithmetic.current.text)
        #expect(text("IMAGE", in: path) == name)
        #expect(text("CREATOR", in: path) == "skynode \(SkyNetVersion.current)")
    }

    /// A text of the table's header, with what is in CONTINUE cards.
    private func text(_ keyword: String, in path: String) -> String? {
        var file: UnsafeMutablePointer<fitsfile>?
        var status: Int32 = 0
        ffdkopn(&file, path, READONLY, &status)
        defer { ffclos(file, &status) }
        ffmahd(file, 2, nil, &status)
        var value: UnsafeMutablePointer<CChar>?
        ffgkls(file, keyword, &value, nil, &status)
        defer { fffree(value, &status) }
        return status == 0 ? value.map { String(cString: $0) } : nil
    }

    @Test func `the header has units and configuration`() throws {
        let folder = ScratchFolder()
        var configuration = ScanConfiguration()
        configuration.threshold = 2.5
        let table = CatalogueTable(
            [.init(image: "n\u{e4}chtlich 'x'", sources: [])], configuration: configuration)
        try table.writeFITS(to: folder.file("a.cat.fits"))
        let text = folder.text("a.cat.fits")
        #expect(text.contains("TTYPE2  = 'X_IMAGE '"))
        #expect(text.contains("TUNIT2  = 'pixel   '"))
        #expect(text.contains("EXTNAME = 'CATALOG '"))
        #expect(text.contains("THRESH  =                  2.5"))
        #expect(text.contains("IMAGE   = 'n?chtlich ''x'''"))
        #expect(!text.contains("DATE"))
    }

    @Test func `numbers beyond the table's types are kept within them`() throws {
        let folder = ScratchFolder()
        var source = Source(x: 1, y: 1, sector: .max)
        source.area = .min
        source.fluxAuto = 1e300
        try CatalogueTable([.init(image: "", sources: [source])], configuration: ScanConfiguration())
            .writeFITS(to: folder.file("a.fits"))
        #expect(column("SECTOR", in: folder.file("a.fits")) == [Double(Int32.max)])
        #expect(column("ISOAREA_IMAGE", in: folder.file("a.fits")) == [Double(Int32.min)])
    }
}
