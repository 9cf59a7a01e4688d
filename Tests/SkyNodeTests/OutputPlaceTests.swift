import Base
import Fixtures
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

    @Test func `only the existing catalogues are found`() {
        let names: Set = ["a.csv", "b.cat.fits", "merged.csv", "a.fits", "c.csv"]
        #expect(
            night.catalogues(of: ["out/a", "out/b"], among: names) == ["out/a.csv", "out/b.cat.fits", "out/merged.csv"])
        #expect(
            OutputPlace.file("out/a.csv", .csv).catalogues(of: ["out/a", "out/b"], among: names) == ["out/a.csv"],
            "images have no catalogues of their own")
        #expect(OutputPlace.standardOutput(.csv).catalogues(of: ["out/a"], among: names).isEmpty)
    }

    // MARK: - On the disk

    private let image = String(decoding: FITSBytes.header(["BITPIX = 8", "NAXIS = 2"]), as: UTF8.self)
    private let catalogue = String(
        decoding: FITSBytes.header(["BITPIX = 8", "NAXIS = 0"])
            + FITSBytes.header(["EXTNAME = 'CATALOG '"], first: "XTENSION= 'BINTABLE'"), as: UTF8.self)

    @Test func `a catalogue is distinguished from an image and from other files`() {
        let folder = ScratchFolder()
        folder.put(image, in: "image")
        folder.put(catalogue, in: "catalogue")
        folder.put("NUMBER,X_IMAGE\n", in: "text")
        folder.put("\u{1F}\u{8B}", in: "odd")
        #expect(
            CatalogueSniff.isCatalogue(folder.file("catalogue")) && !CatalogueSniff.isForeign(folder.file("catalogue")))
        #expect(CatalogueSniff.isForeign(folder.file("image")) && !CatalogueSniff.isCatalogue(folder.file("image")))
        for name in ["text", "none"] {
            #expect(!CatalogueSniff.isForeign(folder.file(name)) && !CatalogueSniff.isCatalogue(folder.file(name)))
        }
    }

    @Test func `an older catalogue is overwritten, and an image is not`() throws {
        let folder = ScratchFolder()
        let place = OutputPlace.folder(folder.path, [.fits])
        folder.put(catalogue, in: "a.cat.fits")
        _ = try PreparedOutput(place, stems: [folder.file("a")])
        folder.put(image, in: "merged.cat.fits")
        let path = folder.path
        let error = try #require(throws: SkyError.self) { _ = try PreparedOutput(place, stems: [path + "/a"]) }
        #expect(
            error.message
                == "\(path)/merged.cat.fits: is a file, and no catalogue of this program; it is not overwritten"
        )
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
