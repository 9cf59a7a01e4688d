import Base
import Testing

@testable import Sky

/// The settings of a scan, as they are written.
struct ScanKeysTests {
    private func configuration(_ texts: [String: String], files: [String: String]? = nil) throws -> ScanConfiguration {
        guard let files else { return try ScanSettings(texts).configuration(reading: nil) }
        return try ScanSettings(texts).configuration { path, _ throws(SkyError) in
            guard let text = files[path] else { throw SkyError(.badInput, "\(path): not there") }
            return Array(text.utf8)
        }
    }

    private func complaint(_ texts: [String: String], files: [String: String]? = nil) -> String? {
        (#expect(throws: SkyError.self) { try configuration(texts, files: files) })?.message
    }

    @Test(arguments: [
        ("threshold", ["2.5", "1e3", "nan"], ["", "x", "2,5"]), ("min-area", ["3", "-1"], ["3.0", "", "3x"]),
        ("aperture", ["6", "6,10.5,20"], ["", "6,", ",6", "6;10", "six"]),
        ("clean", ["2.5", "off"], ["on", ""]), ("sector", ["512", "full"], ["512.5", "half"]),
        ("filter", ["none", "default", "seeing", "own.conv"], ["gauss", "", "own.fits"]),
        ("preset", ["sextractor", "sensitive"], ["Sensitive", ""]), ("columns", ["", "@file", "NUMBER"], []),
    ])
    func `a key takes texts of its form`(name: String, taken: [String], refused: [String]) throws {
        let key = try #require(ScanKeys.named(name))
        for text in taken { #expect(key.takes(text), "\(text)") }
        for text in refused {
            #expect(!key.takes(text), "\(text)")
            #expect(complaint([name: text]) == "--\(name) \(text): it must be \(key.formWords)")
        }
    }

    @Test func `what has to be written is said`() {
        #expect(ScanKeys.threshold.formWords == "a number" && ScanKeys.minimumArea.formWords == "a whole number")
        #expect(ScanKeys.clean.formWords == "off or a number")
        #expect(ScanKeys.filter.formWords == "none, default, seeing or the name of a .conv file")
        #expect(ScanKeys.preset.formWords == "sextractor or sensitive")
        #expect(ScanKeys.aperture.formWords == "numbers with commas between them")
    }

    @Test func `words stand for no number`() throws {
        #expect(try configuration(["clean": "off", "sector": "full"]).cleanParameter == nil)
        #expect(try configuration(["sector": "full"]).sectorSize == nil)
        #expect(try configuration(["sector": "512", "clean": "2.5"]).sectorSize == 512)
        #expect(try configuration(["clean": "2.5"]).cleanParameter == 2.5)
    }

    @Test(arguments: [
        (["threshold": "0"], "threshold 0.0: it must be above 0, up to 1000000"),
        (["threshold": "nan"], "threshold nan: it must be above 0, up to 1000000"),
        (["min-area": "0"], "minimum area 0: it must be 1 to 10000 pixels"),
        (["gain": "-1"], "gain -1.0: it must be 0 or more"), (["gain": "inf"], "gain inf: it must be 0 or more"),
        (["saturation": "inf"], "saturation level inf: it must be a finite value"),
        (["fwhm": "99"], "FWHM of the filter 99.0: it must be 0.5 to 15 pixels"),
        (["mesh-filter": "4"], "background filter 4: it must be an odd number from 1 to 31"),
        (["aperture": "4,0"], "aperture diameter 0.0: it must be above 0, up to 1000 pixels"),
        (["zero-point": "-1001"], "zero point -1001.0: it must be -1000 to 1000 magnitudes"),
    ])
    func `a value that cannot be is refused with those that can`(texts: [String: String], words: String) {
        #expect(complaint(texts) == words)
    }

    @Test func `a filter is a name, or a file of weights where files may be named`() throws {
        let files = ["own.conv": "CONV NORM\n1 2 1\n2 4 2\n1 2 1\n", "bad.conv": "no weights"]
        #expect(try configuration(["filter": "seeing"]).filter == .seeing)
        guard case .kernel(let kernel) = try configuration(["filter": "own.conv"], files: files).filter else {
            Issue.record("weights make a kernel")
            return
        }
        #expect(kernel.width == 3 && kernel.height == 3)
        #expect(complaint(["filter": "own.conv"]) == "--filter: files cannot be named here")
        #expect(complaint(["filter": "bad.conv"], files: files)?.hasPrefix("bad.conv: ") == true)
        #expect(complaint(["filter": "no.conv"], files: files) == "no.conv: not there")
        let settings = ScanSettings(["filter": "own.conv", "columns": "@own.param"])
        #expect(settings.files == ["own.conv", "own.param"] && ScanSettings(["filter": "none"]).files.isEmpty)
    }

    @Test func `names are unique, and each value of an independent key is taken`() throws {
        #expect(Set(ScanKeys.all.map(\.name)).count == ScanKeys.all.count)
        for key in ScanKeys.all where key.isIndependent {
            var values = key.words
            if let bounds = key.bounds {
                values.append(key.text(bounds.isAbove ? bounds.lowest.nextUp : bounds.lowest))
                if let highest = bounds.highest { values.append(key.text(highest)) }
            }
            for value in values { #expect(try configuration([key.name: value]) == configuration([key.name: value])) }
        }
    }
}

extension ScanKey {
    fileprivate func text(_ number: Double) -> String {
        if case .whole = form { "\(Int(number))" } else { "\(number)" }
    }
}
