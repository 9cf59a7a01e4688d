import Base
import Fixtures
import Glibc
import Sky
import Testing

@testable import SkyNode

/// Where results go: which files are written, which are there already, and what is done about these.
struct OutputPlaceTests {
    private let night = OutputPlace.folder("out", [.csv, .fits])

    @Test(
        arguments: [
            (OutputPlace.folder("out", [.csv]), "out"), (.file("out/all.csv", .csv), "out"),
            (.file("all.csv", .csv), "."),
            (.file("/all.csv", .csv), "/"), (.standardOutput(.csv), "."),
        ] as [(OutputPlace, String)])
    func `results have a folder in every form of output`(place: OutputPlace, folder: String) {
        #expect(place.folder == folder)
    }

    @Test func `the merged catalogue has a name that no image's catalogue has`() {
        #expect(night.merged(besides: ["out/a"]).map(\.path) == ["out/merged.csv", "out/merged.cat.fits"])
        #expect(
            night.merged(besides: ["out/merged", "out/merged-all"]).map(\.path)
                == ["out/merged-all-all.csv", "out/merged-all-all.cat.fits"])
        #expect(OutputPlace.standardOutput(.csv).merged(besides: []).isEmpty)
    }

    @Test func `the name of a partial merged catalogue says so`() {
        #expect(night.merged(besides: [], isPartial: true).map(\.path).first == "out/merged.partial.csv")
        #expect(
            OutputPlace.file("out/all.csv", .csv).merged(besides: [], isPartial: true).map(\.path)
                == ["out/all.partial.csv"])
    }

    // MARK: - On the disk

    private let image = String(decoding: FITSBytes.header(["BITPIX = 8", "NAXIS = 2"]), as: UTF8.self)
    private let catalogue = String(
        decoding: FITSBytes.header(["BITPIX = 8", "NAXIS = 0"])
            + FITSBytes.header(
                ["EXTNAME = 'CATALOG '", "CREATOR = 'skynode 0.2.0'"], first: "XTENSION= 'BINTABLE'"), as: UTF8.self)

    @Test func `a catalogue is distinguished from an image and from other files`() {
        let folder = ScratchFolder()
        folder.put(image, in: "image")
        folder.put(catalogue, in: "catalogue")
        folder.put("NUMBER,X_IMAGE\n", in: "text")
        folder.put("\u{1F}\u{8B}", in: "odd")
        #expect(CatalogueSniff.isCatalogue(folder.file("catalogue")))
        for name in ["image", "text", "odd", "none"] {
            #expect(!CatalogueSniff.isCatalogue(folder.file(name)), "\(name)")
        }
    }

    /// The files of a plain scan.
    private let files = [.csv, .fits, .regions].map(ResultFile.catalogue) + ResultFile.pictures

    @Test func `older results are overwritten, and no file of somebody else`() throws {
        let folder = ScratchFolder()
        let place = OutputPlace.folder(folder.path, [.fits])
        let path = folder.path
        func prepare(overwrites: Bool = false) throws {
            _ = try PreparedOutput(
                place, files: files, stems: [path + "/a"], merged: [(path + "/merged.csv", .csv)],
                overwrites: overwrites)
        }
        folder.put(catalogue, in: "a.cat.fits")
        folder.put("NUMBER,X_IMAGE,FLUX_AUTO\n1,10.0000,5e3\n", in: "a.csv")
        try prepare()
        for (name, text) in [
            ("a.jpg", "\u{FF}\u{D8}"), ("a.html", "<!DOCTYPE html>\n<html>"), ("a.reg", "# Region file format: DS9"),
            ("a.sectors.png", "x"), ("a.cat.fits", image), ("a.csv", "name,ra\nm31,10.7\n"), ("merged.csv", "x"),
        ] {
            let old = folder.text(name)
            folder.put(text, in: name)
            let error = try #require(throws: SkyError.self, "\(name)") { try prepare() }
            #expect(
                error.message.hasPrefix("\(path)/\(name): is not a ") && error.message.hasSuffix("without --overwrite"))
            try prepare(overwrites: true)
            unlink(folder.file(name))
            if !old.isEmpty { folder.put(old, in: name) }
        }
    }

    @Test func `two results of one name are found before the scan`() throws {
        let folder = ScratchFolder()
        let path = folder.path
        func prepare(_ stems: Set<String>, _ files: [ResultFile], _ merged: String = "merged.csv") throws {
            _ = try PreparedOutput(
                .folder(path, [.csv]), files: files, stems: Set(stems.map { path + "/" + $0 }),
                merged: [(path + "/" + merged, .csv)], overwrites: true)
        }
        let changes = files + ResultFile.changes
        try prepare(["x1", "X1", "x1.changes", "x1.injection"], files)
        for (stems, files, merged, name) in [
            (["x1", "x1.changes"], changes, "merged.csv", "x1.changes."),
            (["x1", "x1.injection"], files + [.injection], "merged.csv", "x1.injection.csv"),
            (["x1"], changes, "x1.changes.csv", "x1.changes.csv"),
        ] as [(Set<String>, [ResultFile], String, String)] {
            let error = try #require(throws: SkyError.self, "\(name)") { try prepare(stems, files, merged) }
            #expect(error.message.hasPrefix("\(path)/\(name)") && error.message.contains("two results"))
        }
        #expect(folder.names.isEmpty)
    }

    @Test func `names that are too long are found before the scan, with what follows the stem`() throws {
        let folder = ScratchFolder()
        let path = folder.path
        func reason(_ stem: String, _ merged: [(String, CatalogueFormat)] = []) -> String? {
            do {
                _ = try PreparedOutput(.folder(path, [.csv]), files: files, stems: [stem], merged: merged)
                return nil
            } catch {
                return error.message
            }
        }
        let longest = 255 - ".sectors.png".utf8.count
        #expect(reason(path + "/" + String(repeating: "n", count: longest)) == nil)
        let words = "its name has 256 bytes, and there may be 255 in this folder"
        #expect(reason(path + "/" + String(repeating: "n", count: longest + 1))?.hasSuffix(words) == true)
        #expect(
            reason(path + "/a", [(path + "/" + String(repeating: "é", count: 126) + ".csv", .csv)])?.hasSuffix(words)
                == true)
        let deep = path + String(repeating: "/" + String(repeating: "d", count: 200), count: 5)
        #expect(reason(deep + "/a")?.contains("bytes while it is made, and there may be 1024") == true)
        let deepest = path + String(repeating: "/" + String(repeating: "d", count: 200), count: 21)
        #expect(throws: SkyError.self) {
            _ = try PreparedOutput(.folder(deepest, [.csv]), files: ResultFile.pictures, stems: [deepest + "/a"])
        }
        #expect(folder.names.isEmpty, "and no folder was made")
    }

    @Test func `an output folder is created, and removed again if nothing was written`() throws {
        let scratch = ScratchFolder()
        let place = OutputPlace.folder(scratch.file("out"), [.csv])
        let first = try PreparedOutput(place)
        #expect(scratch.names == ["out"])
        first.removeFolderIfUnused()
        #expect(scratch.names.isEmpty)
        _ = try PreparedOutput(place)
        let second = try PreparedOutput(place)
        second.removeFolderIfUnused()
        #expect(scratch.names == ["out"], "it was there before")
    }

    @Test func `a folder as an output file is refused`() throws {
        let scratch = ScratchFolder()
        let path = scratch.path
        let error = try #require(throws: SkyError.self) { _ = try PreparedOutput(.file(path, .csv)) }
        #expect(error.message == "\(path): is a folder; name a file, or end the folder's name with a slash")
    }
}
