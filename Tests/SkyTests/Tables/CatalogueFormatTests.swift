import Base
import Fixtures
import Foundation
import Testing
import Transport

@testable import Sky

/// What each format holds; whether other programs take it is seen by `make peers`.
@Suite struct CatalogueFormatTests {
    private func section(_ image: String, _ count: Int) -> CatalogueTable.Section {
        let sources = (0..<count).map { index in
            var source = Source(x: Double(index) + 1.5, y: 2, sector: 0)
            (source.alpha, source.delta) = (150 + Double(index), -2.5)
            source.fluxAuto = 1000
            return source
        }
        return CatalogueTable.Section(
            image: image, digest: String(repeating: "ab", count: 32), header: ["NAXIS   = 2"],
            filter: .gaussian(fwhm: 3.25), sources: sources)
    }

    private func table(_ sections: CatalogueTable.Section...) -> CatalogueTable {
        CatalogueTable(sections, configuration: ScanConfiguration())
    }

    private func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `a format is known by its file's ending`() {
        for (path, format) in [
            ("a.fits", CatalogueFormat.fits), ("/b/c.FIT", .fits), ("x.y.csv", .csv), ("a.ecsv", .ecsv),
            ("a.vot", .votable), ("a.xml", .votable), ("a.ldac", .ldac), ("a.jsonl", .ndjson), ("a.reg", .regions),
        ] { #expect(CatalogueFormat(path: path) == format, "\(path)") }
        for path in ["", "out", "a/", "a.csv/", "fits", "a.txt", "folder.fits/b", "."] {
            #expect(CatalogueFormat(path: path) == nil, "\(path)")
        }
        for format in CatalogueFormat.allCases { #expect(CatalogueFormat(path: "a" + format.ending) == format) }
    }

    @Test func `every source of several images names its image, and the numbers continue`() {
        let table = table(section("a.fits", 2), section("b, c.fits", 1))
        let lines = lines(table.csv())
        #expect(lines[0].hasSuffix(",SECTOR,NUMBER_IN_FILE,FILE"))
        #expect(lines[1].hasSuffix(",1,a.fits") && lines[2].hasSuffix(",2,a.fits"))
        #expect(lines[3].hasSuffix(",1,\"b, c.fits\""), "where it is in the catalogue of its own image")
        #expect(lines.dropFirst().map { $0.prefix { $0 != "," } } == ["1", "2", "3"])
        #expect(!self.lines(self.table(section("a.fits", 1)).csv())[0].contains("FILE"))
    }

    @Test func `no format passes on control characters in a file's name`() {
        let table = table(section("a\u{1B}[2J\u{9B}\u{202E}b.fits", 1), section("c\u{7}\u{E0041}d, \n.fits", 1))
        let escaped = ["a\\u001b[2J\\u009b\\u202eb.fits", "c\\u0007\\udb40\\udc41d, \\n.fits"]
        let replaced = ["a?[2J??b.fits", "c??d, ?.fits"]
        for (format, bytes, names) in [
            ("csv", table.csv(), replaced), ("ndjson", table.ndjson(), escaped), ("votable", table.votable(), replaced),
            ("ecsv", table.ecsv(), escaped + replaced), ("regions", table.regions(), replaced),
        ] {
            let text = String(decoding: bytes, as: UTF8.self)
            for name in names { #expect(text.contains(name), "\(format)") }
            let hidden = text.unicodeScalars.filter { $0 != "\n" && !PrintableText.holds($0) }
            #expect(hidden.isEmpty, "\(format)")
        }
    }

    @Test func `the header has the settings of the catalogue`() {
        let text = String(decoding: table(section("a \"x\".fits", 1)).ecsv(), as: UTF8.self)
        #expect(text.hasPrefix("# %ECSV 1.0\n# ---\n"))
        for line in [
            "# - IMAGE: \"a \\\"x\\\".fits\"", "# - SHA256: \"abab", "# - FILT: \"gauss\"", "# - FWHM: 3.25",
            "# - THRESH: 1.5", "# - CREATOR: \"skynode ",
            "# - {name: X_IMAGE, unit: \"pixel\", datatype: float64, description: \"Position along x, first pixel at 1\"}",
        ] { #expect(text.contains(line), "\(line)") }
    }

    @Test func `the header says what the sources were measured by`() throws {
        let unknown = "# - ARITH"
        var (one, other) = (section("a", 1), section("b", 1))
        let current = "# - ARITHM: \"\(Arithmetic.current.text)\""
        #expect(String(decoding: table(one, other).ecsv(), as: UTF8.self).contains(current))
        one.arithmetic = nil
        #expect(!String(decoding: table(one).ecsv(), as: UTF8.self).contains(unknown))
        (one.arithmetic, other.arithmetic) = (Arithmetic("0.2, sep 1.2.1"), Arithmetic("0.2, sep 1.4.1"))
        let both = String(decoding: table(one, other).ecsv(), as: UTF8.self)
        #expect(both.contains("# - ARITH1: \"0.2, sep 1.2.1\"") && both.contains("# - ARITH2: \"0.2, sep 1.4.1\""))
    }

    @Test func `a small number has a decimal point, as YAML requires`() {
        var table = table(section("a", 0))
        table.configuration.deblendContrast = 5e-5
        let text = String(decoding: table.ecsv(), as: UTF8.self)
        #expect(text.contains("# - MINCONT: 5.0e-05\n"))
    }

    @Test func `a line of NDJSON is an object with every column`() throws {
        var table = table(section("a\tb\u{7}.fits", 1), section("c", 0))
        table.sections[0].sources[0].alpha = nil
        let lines = lines(table.ndjson())
        #expect(lines.count == 1)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
        #expect(object.count == table.columns.count)
        #expect(object["X_IMAGE"] as? Double == 1.5 && object["ALPHA_J2000"] is NSNull)
        #expect(object["FILE"] as? String == "a\tb\u{7}.fits")
    }

    @Test func `the special characters of XML are escaped`() {
        let text = String(decoding: table(section("<a> & 'b'\u{1}", 1)).votable(), as: UTF8.self)
        #expect(text.contains("value=\"&lt;a&gt; &amp; &#39;b&#39;?\""))
        #expect(text.contains("<TD>1.5000</TD>") && text.contains("<TD>NaN</TD>") && text.hasSuffix("</VOTABLE>\n"))
    }

    @Test func `regions of several images have sky coordinates`() {
        let lines = lines(table(section("a", 1), section("b", 1)).regions())
        #expect(lines[3] == "icrs" && lines[4] == "circle(150.0000000,-2.5000000,2\")")
    }

    @Test func `FITS_LDAC has the image's header in a cell before each table`() throws {
        let folder = ScratchFolder()
        try table(section("a", 3), section("b", 1)).writeLDAC(to: folder.file("a.ldac"))
        let text = folder.text("a.ldac")
        #expect(text.components(separatedBy: "EXTNAME = 'LDAC_IMHEAD'").count == 3)
        #expect(text.components(separatedBy: "EXTNAME = 'LDAC_OBJECTS'").count == 3)
        #expect(
            text.contains("TDIM1   = '(80, 2) '") && text.contains("NAXIS   = 2" + String(repeating: " ", count: 69)))
    }
}
