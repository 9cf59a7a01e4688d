import Base
import Fixtures
import Testing

@testable import Sky

@Suite struct ColumnListTests {
    private func refusal(_ text: String, apertures: Int = 1) -> String? {
        SkyError.thrown { () throws(SkyError) in try ColumnList.names(text, apertures: apertures) }?.message
    }

    @Test func `names stand for columns in the given order, and for all apertures`() throws {
        #expect(try ColumnList.names("flags,X_IMAGE,mu_max", apertures: 1) == ["FLAGS", "X_IMAGE", "MU_MAX"])
        #expect(try ColumnList.names("FLUX_APER", apertures: 2) == ["FLUX_APER", "FLUX_APER_1"])
        #expect(try ColumnList.names("MAG_APER_1", apertures: 2) == ["MAG_APER_1"])
        let more = try ColumnList.names("+MU_MAX,FLUX_ISO", apertures: 1)
        #expect(more == CatalogueColumn.usual(apertures: 1).map(\.name) + ["MU_MAX"])
    }

    @Test func `a SExtractor parameter file is read`() throws {
        let text = "# all\nNUMBER\n  X_IMAGE   # along x\r\n\n#Y_IMAGE\nFLUX_APER(2)\n"
        #expect(
            try ColumnList.names(file: Array(text.utf8), apertures: 3)
                == ["NUMBER", "X_IMAGE", "FLUX_APER", "FLUX_APER_1"])
        let wrong = SkyError.thrown { () throws(SkyError) in
            try ColumnList.names(file: Array("NUMBER\nVIGNET(5)\n".utf8), apertures: 1)
        }
        #expect(wrong?.message.hasPrefix("line 2: ") == true)
    }

    @Test(arguments: [
        "", ",", "NO_SUCH", "FLAGS,FLAGS", "FLUX_APER(3)", "FLUX_APER(0)", "FLUX_APER(x)", "FLAGS(1)", "FLUX_APER)",
        "+",
        "FLUX_APER(99999999999999999999)", String(repeating: "A", count: 70_000), "\u{1B}[2J",
    ])
    func `an unknown column is refused in one line`(text: String) throws {
        let message = try #require(refusal(text))
        #expect(message.count < 300 && !message.contains("\n") && !message.contains("\u{1B}"))
    }

    @Test func `a request with bad columns is refused`() throws {
        var configuration = ScanConfiguration()
        for columns in [
            [], ["NOTHING"], ["FLAGS", "FLAGS"], Array(repeating: "FLAGS", count: 10_000), ["FLUX_APER_1"],
        ] {
            configuration.columns = columns
            #expect(SkyError.thrown { () throws(SkyError) in try configuration.validate() }?.kind == .badInput)
        }
        configuration.columns = ["FLAGS"]
        try configuration.validate()
    }
}
