import Fixtures
import Foundation
import Testing

@testable import Sky

@Suite struct ChangeTableTests {
    private func table() throws -> (ChangeTable, EpochComparison) {
        var frame = TestFrame(width: 256, height: 256, seed: 61)
        for index in 0..<36 {
            frame.addStar(
                x: 24 + Double(index % 6) * 40.3, y: 24 + Double(index / 6) * 40.7, flux: 15_000 + Double(index) * 777)
        }
        let old = try SkyScan().catalogue(of: .pixels(width: 256, height: 256, frame.pixels))
        frame.addStar(x: 128, y: 150, flux: 9000)
        let new = try SkyScan().catalogue(of: .pixels(width: 256, height: 256, frame.pixels))
        let pair = try EpochPair(new: Epoch(catalogue: new), old: Epoch(catalogue: old))
        var result = DifferenceResult(sector: 0, corePixels: 65_536)
        result.comparedPixels = 65_536
        result.candidates = [
            DifferenceCandidate(
                x: 129, y: 151, xOld: 129, yOld: 151, positionError: 0.03, fluxDifference: 9000,
                fluxDifferenceError: 60,
                fluxNew: 9010, fluxNewError: 50, fluxOld: 10, fluxOldError: 40, significance: 150)
        ]
        let comparison = EpochComparison(merging: [result], pair: pair, new: new, old: old)
        let table = ChangeTable(
            comparison, image: "<new>.fits", reference: "old.fits", zeroPoint: 25, hasTimes: false)
        return (table, comparison)
    }

    @Test func `each change has a row, with magnitude errors only where the source is seen`() throws {
        let (table, _) = try table()
        #expect(table.count(.appeared) == 1 && table.count(.moved) == 0)
        let lines = String(decoding: table.csv, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 2)
        let cells = lines[1].split(separator: ",", omittingEmptySubsequences: false)
        #expect(cells.count == lines[0].split(separator: ",").count)
        #expect(cells[1] == "appeared" && cells[2] == "129.000")
        let names = lines[0].split(separator: ",").map(String.init)
        func cell(_ name: String) throws -> Substring { cells[try #require(names.firstIndex(of: name))] }
        // 25 - 2.5 log 9010; and of the limit 25 - 2.5 log 120.
        #expect(try cell("MAG_NEW") == "15.1132" && cell("MAGERR_NEW") == "0.0060")
        #expect(try cell("MAG_OLD") == "19.8020" && cell("MAGERR_OLD") == "")
        #expect(try cell("ALPHA_J2000") == "" && cell("TRACK") == "")
    }

    @Test func `the page has the pictures of each change, and escapes names`() throws {
        let (table, _) = try table()
        let picture = EpochCutouts(old: [1, 2, 3], new: [4, 5, 6], difference: [7, 8, 9], side: 41)
        let page = String(decoding: ChangeReport(table, cutouts: [0: picture]).html, as: UTF8.self)
        #expect(page.contains("&lt;new&gt;.fits against old.fits") && !page.contains("<new>"))
        #expect(page.contains("base64,AQID") && page.contains("base64,BAUG") && page.contains("base64,BwgJ"))
        #expect(page.contains("alt=\"difference 1\"") && page.contains("times the noise"))
        #expect(page.contains("fainter than 19.80 mag"))
        #expect(page.contains("<h2>Appeared</h2>") && !page.contains("<h2>Moved</h2>"))
    }

    @Test func `each row of the page has the same number of cells, whatever was drawn`() throws {
        let (table, _) = try table()
        let older = EpochCutouts(old: [1], new: [2], difference: nil, side: 41)
        for (cutouts, images) in [([0: older], 2), ([:], 0)] {
            let page = String(decoding: ChangeReport(table, cutouts: cutouts).html, as: UTF8.self)
            let row = try #require(page.split(separator: "\n").first { $0.contains("<b>1</b>") })
            #expect(row.components(separatedBy: "<td>").count == 5)
            #expect(row.components(separatedBy: "<img").count == images + 1)
            #expect(page.contains("times the noise") == (images > 0))
        }
    }
}
