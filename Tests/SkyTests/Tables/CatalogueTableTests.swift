import Base
import Fixtures
import Testing

@testable import Sky

@Suite struct CatalogueTableTests {
    private func table() -> CatalogueTable {
        var first = Source(x: 10.12345, y: 20.5, sector: 3)
        first.alpha = 150.123456789
        first.delta = -2.5
        first.fluxAuto = 10_000
        first.fluxErrorAuto = 100
        first.a = 3
        first.b = 2
        first.theta = 30
        first.kronRadius = 3.5
        first.area = 27
        first.flags = 2
        var second = Source(x: 1, y: 2, sector: 0)
        second.fluxAuto = -5
        second.a = .nan
        second.kronRadius = 3.5
        var configuration = ScanConfiguration()
        configuration.zeroPoint = 25
        return CatalogueTable(
            [.init(image: "field.fits", sources: [first, second])], configuration: configuration)
    }

    private func records(_ table: CatalogueTable) -> [[String: String]] {
        let lines = String(decoding: table.csv(), as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        return lines.dropFirst().map { Dictionary(zip(lines[0], $0)) { first, _ in first } }
    }

    @Test func `the columns have SExtractor's names`() {
        let line =
            "NUMBER,X_IMAGE,Y_IMAGE,ALPHA_J2000,DELTA_J2000,XWIN_IMAGE,YWIN_IMAGE,ALPHAWIN_J2000,DELTAWIN_J2000,"
            + "FLUX_AUTO,FLUXERR_AUTO,MAG_AUTO,MAGERR_AUTO,FLUX_APER,FLUXERR_APER,MAG_APER,MAGERR_APER,FLUX_ISO,"
            + "FLUX_MAX,FLUX_RADIUS,KRON_RADIUS,A_IMAGE,B_IMAGE,THETA_IMAGE,ELONGATION,FWHM_IMAGE,BACKGROUND,"
            + "THRESHOLD,ISOAREA_IMAGE,FLAGS,IMAFLAGS_ISO,SECTOR\n"
        #expect(String(decoding: table().csv(), as: UTF8.self).hasPrefix(line))
    }

    @Test func `a merged catalogue names each image's weight and mask files, in keywords of eight letters`() {
        func section(_ name: String, _ companions: [CatalogueTable.CompanionFile]) -> CatalogueTable.Section {
            var section = CatalogueTable.Section(image: name, sources: [])
            section.companions = companions
            return section
        }
        func cards(_ sections: [CatalogueTable.Section]) -> [String: String] {
            let table = CatalogueTable(sections, configuration: ScanConfiguration())
            let pairs = table.parameters.map { ($0.keyword, $0.text) }
            #expect(pairs.allSatisfy { $0.0.count <= 8 } && Set(pairs.map(\.0)).count == pairs.count)
            return Dictionary(pairs) { first, _ in first }
        }
        let weight = CatalogueTable.CompanionFile(keyword: "WEIGHT", path: "w.fits", digest: "aa")
        let variance = CatalogueTable.CompanionFile(keyword: "VARIANCE", path: "v.fits", digest: "bb")
        let mask = CatalogueTable.CompanionFile(keyword: "MASK", path: "m.fits", digest: "cc")
        let single = cards([section("a", [weight, mask])])
        #expect(single["WEIGHT"] == "w.fits" && single["NOISESHA"] == "aa" && single["MASKSHA"] == "cc")
        let many = cards([section("a", [weight])] + Array(repeating: section("b", [variance, mask]), count: 120))
        #expect(many["WHT1"] == "w.fits" && many["NSHA1"] == "aa" && many["MASK1"] == nil)
        #expect(many["VAR121"] == "v.fits" && many["MASK121"] == "m.fits" && many["MSHA121"] == "cc")
    }

    @Test func `a catalogue repeats the header values of each image`() {
        func card(_ keyword: String, _ value: String) -> String {
            String((keyword + "        ").prefix(8)) + "= " + value
        }
        func cards(_ headers: [[String]], zeroPoint: Double? = nil) -> [String: String] {
            var configuration = ScanConfiguration()
            configuration.zeroPoint = zeroPoint
            let sections = headers.map { CatalogueTable.Section(image: "a", header: $0, sources: []) }
            let table = CatalogueTable(sections, configuration: configuration)
            return Dictionary(table.parameters.map { ($0.keyword, $0.text) }) { first, _ in first }
        }
        let one = [
            card("GAIN", "1.5"), card("SATURATE", "60000"), card("DATE-OBS", "'2026-01-02T03:04:05'"),
            card("FILTER", "'r'"), card("EXPTIME", "30"), card("BUNIT", "'ADU'"), card("MAGZPT", "25.5"),
        ]
        let single = cards([one])
        #expect(single["GAIN"] == "1.5" && single["SATURATE"] == "60000.0" && single["MAGZERO"] == "25.5")
        #expect(single["DATE-OBS"] == "2026-01-02T03:04:05" && single["TIMESYS"] == "UTC" && single["FILTER"] == "r")
        #expect(single["EXPTIME"] == "30.0" && single["PIXUNIT"] == "adu")
        #expect(cards([one], zeroPoint: 20)["MAGZERO"] == "20.0")
        let same = cards([one, one])
        #expect(same["GAIN"] == "1.5" && same["DATE2"] == "2026-01-02T03:04:05" && same["BAND1"] == "r")
        let other = cards([one, [card("GAIN", "2")]])
        #expect(other["GAIN"] == nil && other["GAIN1"] == "1.5" && other["GAIN2"] == "2.0" && other["MAGZP2"] == "0.0")
    }

    @Test func `fluxes have the unit of the pixels`() throws {
        func table(_ units: [String]) -> CatalogueTable {
            CatalogueTable(
                units.map { .init(image: "a", header: $0.isEmpty ? [] : ["BUNIT   = '\($0)'"], sources: []) },
                configuration: ScanConfiguration())
        }
        func unit(_ table: CatalogueTable) -> String? { table.columns.first { $0.name == "FLUX_AUTO" }?.unit }
        #expect(unit(table([""])) == "count")
        #expect(unit(table(["MJy/sr"])) == "MJy/sr" && unit(table(["ELECTRONS/S"])) == "electron/s")
        #expect(unit(table(["ADU", "adu"])) == "adu")
        #expect(unit(table(["ADU", "Jy"])) == "", "no unit is that of both")
        let text = String(decoding: table(["<&\u{1B}\">"]).votable(), as: UTF8.self)
        #expect(!text.contains("\u{1B}") && !text.contains("<&"))
    }

    @Test func `a VOTable names its coordinate system and time scale`() throws {
        let header = ["DATE-OBS= '2026-01-02'", "TIMESYS = 'TT'"]
        let table = CatalogueTable([.init(image: "a", header: header, sources: [])], configuration: ScanConfiguration())
        let text = String(decoding: table.votable(), as: UTF8.self)
        #expect(text.contains("<COOSYS ID=\"ICRS\" system=\"ICRS\"/>"))
        #expect(text.contains("<TIMESYS ID=\"TIME_TT\" timescale=\"TT\" refposition=\"UNKNOWN\"/>"))
        #expect(text.contains("xtype=\"timestamp\" ref=\"TIME_TT\" value=\"2026-01-02\""))
        #expect(text.contains("name=\"ALPHA_J2000\"") && text.components(separatedBy: "ref=\"ICRS\"").count == 5)
    }

    @Test func `every aperture has its own columns`() {
        var table = table()
        table.configuration.apertureDiameters = [5, 10]
        table.sections[0].sources[0].fluxesAperture = [100, 10_000]
        table.sections[0].sources[0].fluxErrorsAperture = [10, 20]
        let rows = records(table)
        #expect(rows[0]["FLUX_APER"] == "100" && rows[0]["FLUX_APER_1"] == "10000")
        #expect(rows[0]["MAG_APER_1"] == "15.0000" && rows[0]["MAGERR_APER"] == "0.1086")
        #expect(rows[1]["FLUX_APER"] == "" && rows[1]["MAG_APER_1"] == "")
    }

    @Test func `a source is one line with fixed precision`() {
        let row = records(table())[0]
        #expect(row["NUMBER"] == "1" && row["SECTOR"] == "3")
        #expect(row["X_IMAGE"] == "10.1234" && row["Y_IMAGE"] == "20.5000")
        #expect(row["ALPHA_J2000"] == "150.1234568" && row["DELTA_J2000"] == "-2.5000000")
        #expect(row["FLUX_AUTO"] == "10000")
        #expect(row["MAG_AUTO"] == "15.0000" && row["MAGERR_AUTO"] == "0.0109")
        #expect(row["ELONGATION"] == "1.500")
    }

    @Test func `a value that does not exist is an empty field`() {
        let row = records(table())[1]
        #expect(row["NUMBER"] == "2")
        for name in ["ALPHA_J2000", "DELTA_J2000", "MAG_AUTO", "MAGERR_AUTO", "A_IMAGE", "ELONGATION"] {
            #expect(row[name] == "", "\(name)")
        }
        #expect(row["FLUX_AUTO"] == "-5")
    }

    @Test func `a catalogue without sources is a header`() throws {
        let folder = ScratchFolder()
        let empty = CatalogueTable([.init(image: "", sources: [])], configuration: ScanConfiguration())
        #expect(empty.csv().count { $0 == UInt8(ascii: "\n") } == 1)
        try empty.writeFITS(to: folder.file("a.cat.fits"))
        #expect(folder.bytes("a.cat.fits").count % 2880 == 0)
    }

    @Test func `regions are ellipses in image coordinates, flagged ones in another colour`() {
        let lines = String(decoding: table().regions(), as: UTF8.self).split(separator: "\n")
        #expect(lines[0] == "# Region file format: DS9 version 4.1")
        #expect(lines[3] == "image")
        #expect(lines[4] == "ellipse(10.1234,20.5000,10.500,7.000,30.00) # color=orange")
        #expect(lines[5] == "ellipse(1.0000,2.0000,1.000,1.000,0.00)")
    }

    @Test func `a source that is sharper than stars has a flag and another colour`() {
        var sharp = table()
        sharp.sections[0].sources[0].imageFlags = ImageFlags.sharp.rawValue
        sharp.sections[0].sources[0].sharpness = 12.3456
        #expect(records(sharp).map { $0["IMAFLAGS_ISO"] } == ["1", "0"])
        sharp.configuration.columns = ["IMAFLAGS_ISO", "SHARPNESS"]
        #expect(records(sharp).map { $0["SHARPNESS"] } == ["12.346", "1.000"])
        let lines = String(decoding: sharp.regions(), as: UTF8.self).split(separator: "\n")
        #expect(lines[4] == "ellipse(10.1234,20.5000,10.500,7.000,30.00) # color=red")
    }

    @Test func `a name cannot inject a region`() {
        var table = table()
        table.sections[0].image = "a\nimage; circle(1,1,1)"
        let lines = String(decoding: table.regions(), as: UTF8.self).split(separator: "\n")
        #expect(!lines.contains { $0.hasPrefix("image;") })
    }

    @Test func `equal catalogues are equal bytes in every format`() throws {
        let folder = ScratchFolder()
        for name in ["a", "b"] {
            for format in CatalogueFormat.allCases { try table().write(format, to: folder.file(name + format.ending)) }
        }
        for ending in CatalogueFormat.allCases.map(\.ending) {
            #expect(folder.bytes("a" + ending) == folder.bytes("b" + ending))
            #expect(!folder.bytes("a" + ending).isEmpty)
        }
        #expect(folder.names.count == 2 * CatalogueFormat.allCases.count)
    }

    @Test func `nothing is written if a folder has the name of the file`() {
        let folder = ScratchFolder()
        for format in CatalogueFormat.allCases {
            #expect(throws: SkyError.self) { try table().write(format, to: folder.path) }
            #expect(throws: SkyError.self) { try table().write(format, to: folder.file("no/a")) }
        }
        #expect(folder.names == [])
    }
}
