import Base
import Fixtures
import Foundation
import Glibc
import Testing

@testable import Sky

/// Which files the program takes for its own.
@Suite struct OutputKindTests {
    private func table(_ images: Int, _ columns: [String]? = nil) -> CatalogueTable {
        var configuration = ScanConfiguration()
        configuration.columns = columns
        configuration.apertureDiameters = [5, 10, 20]
        let sections = (0..<images).map { number in
            var source = Source(x: 10.25, y: 20.5, sector: 0)
            source.alpha = 150.1
            source.delta = 2.2
            return CatalogueTable.Section(
                image: "a,\"\(number)\".fits", header: ["TELESCOP= 'none'"], sources: [source, source])
        }
        return CatalogueTable(sections, configuration: configuration, namesImages: images > 1)
    }

    @Test(arguments: CatalogueFormat.allCases)
    func `a catalogue is recognised in every format, of one image and of several, with any columns`(
        format: CatalogueFormat
    ) throws {
        let folder = ScratchFolder()
        for (number, table) in [
            table(1), table(3), table(0), table(1, ["MAG_AUTO", "FLUX_APER_2"]), table(2, ["ALPHA_J2000"]),
        ].enumerated() {
            // A file of SExtractor's format has at least one image.
            if format == .ldac, number == 2 { continue }
            let path = folder.file("\(number)")
            try table.write(format, to: path)
            #expect(folder.bytes("\(number)").isEmpty || OutputKind.catalogue.isMade(at: path), "\(number)")
            // It is replaced by another one, in whatever format.
            try table.write(.csv, to: path)
        }
    }

    @Test(arguments: [
        "", "x", "name,ra,dec\nm31,10.7,41.3\n", "NUMBER,X_IMAGE,comment\n1,2.0000,hello\n",
        "NUMBER,X_IMAGE,Y_IMAGE\n1,10.2,20.5\n", "NUMBER,X_IMAGE\n1.5,10.2000\n", "NUMBER\tX_IMAGE\n1\t2\n",
        "#   1 NUMBER                 Running object number\n",
        "# Region file format: DS9 version 4.1\nglobal color=green\n",
        "# %ECSV 1.0\n# ---\n", "{\"NUMBER\": 1, \"X_IMAGE\": 2}\n", "{\"name\":1}\n", "{\n", "{}\n",
        "<?xml version=\"1.0\"?>\n<VOTABLE/>\n",
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
        "\"a\",\"b\"\n", "SIMPLE  =                    T",
    ])
    func `a text of somebody else is of no kind`(text: String) {
        let folder = ScratchFolder()
        folder.put(text, in: "a.jpg")
        for kind in kinds { #expect(!kind.isMade(at: folder.file("a.jpg")), "\(kind.name)") }
    }

    private let kinds: [OutputKind] = [
        .catalogue, .picture, .sectorMap, .page, .frame, .truth, .checkImage, .difference, .changes, .injection,
        .injectionPlot,
    ]

    @Test func `FITS files of other programs are of no kind, and damaged ones end nothing`() throws {
        let folder = ScratchFolder()
        func put(_ bytes: [UInt8]) {
            unlink(folder.file("a.fits"))
            let descriptor = open(folder.file("a.fits"), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
            _ = write(descriptor, bytes, bytes.count)
            close(descriptor)
            for kind in kinds { #expect(!kind.isMade(at: folder.file("a.fits")), "\(kind.name)") }
        }
        let primary = FITSBytes.header(["BITPIX = 8", "NAXIS = 0"])
        // SExtractor's.
        put(
            primary
                + FITSBytes.header(
                    ["BITPIX = 8", "NAXIS = 2", "NAXIS1 = 80", "NAXIS2 = 1", "EXTNAME = 'LDAC_IMHEAD'"],
                    first: "XTENSION= 'BINTABLE'") + FITSBytes.padded([UInt8](repeating: 0x20, count: 80))
                + FITSBytes.header(["EXTNAME = 'LDAC_OBJECTS'"], first: "XTENSION= 'BINTABLE'"))
        put(FITSBytes.header(["BITPIX = 8", "NAXIS = 2", "NAXIS1 = 9", "NAXIS2 = 9", "OBJECT = 'synthetic sky'"]))
        for axes in [
            ["NAXIS = 999", "NAXIS1 = 9223372036854775807"], ["NAXIS = 2", "NAXIS1 = -1", "NAXIS2 = 5"],
            ["NAXIS = 2", "NAXIS1 = 1125899906842624", "NAXIS2 = 1125899906842624"],
            ["NAXIS = 1", "NAXIS1 = 1125899906842624", "PCOUNT = 1125899906842624"], ["NAXIS = -9223372036854775808"],
            ["NAXIS = 1", "NAXIS1 = 5", "PCOUNT = -9223372036854775808"],
        ] {
            put(FITSBytes.header(["BITPIX = -64"] + axes))
            put(FITSBytes.header(["BITPIX = -9223372036854775808"] + axes))
        }
        put(Array(primary.prefix(100)))
    }

    @Test func `a synthetic frame, its truth and a picture are recognised, each as what it is`() throws {
        let folder = ScratchFolder()
        var recipe = SkySynthesis()
        (recipe.width, recipe.height, recipe.stars, recipe.galaxies) = (64, 64, 3, 0)
        for movers in [0, 2] {
            recipe.movers = movers
            try recipe.render().write(to: folder.file("a.fits"))
        }
        func made(_ name: String) -> [String] { kinds.filter { $0.isMade(at: folder.file(name)) }.map(\.name) }
        #expect(made("a.fits") == ["synthetic frame"] && made("a_truth.csv") == ["truth file"])
        let raster = Raster(width: 40, height: 30)
        try AtomicFile.write(PNGWriter.encode(raster), to: folder.file("a.sectors.png"), as: .sectorMap)
        try AtomicFile.write(JPEGCodec.encode(raster), to: folder.file("a.jpg"), as: .picture)
        #expect(made("a.sectors.png") == ["map of sectors"] && made("a.jpg") == ["picture"])
    }

    @Test func `a picture of version 0.2, which has no mark, is recognised by the page that shows it`() throws {
        let folder = ScratchFolder()
        let marked = try JPEGCodec.encode(Raster(width: 40, height: 30))
        let plain = Array(marked.prefix(2) + marked.dropFirst(2 + JPEGCodec.mark.count))
        func put(_ bytes: [UInt8], _ name: String) throws {
            unlink(folder.file(name))
            try AtomicFile.write(bytes, to: folder.file(name), as: .own)
        }
        try put(plain, "a.jpg")
        #expect(!OutputKind.picture.isMade(at: folder.file("a.jpg")))
        func page(_ picture: [UInt8]) -> [UInt8] {
            HTMLPage(title: "a", width: 60, cellPadding: "0.15em", style: []).html(
                "<img src=\"data:image/jpeg;base64,\(Data(picture).base64EncodedString())\">\n")
        }
        try put(page(marked), "a.html")
        #expect(!OutputKind.picture.isMade(at: folder.file("a.jpg")), "it shows another one")
        try put(page(plain), "a.html")
        #expect(OutputKind.picture.isMade(at: folder.file("a.jpg")))
        try put(Array("<img src=\"\(Data(plain).base64EncodedString())\">".utf8), "a.html")
        #expect(!OutputKind.picture.isMade(at: folder.file("a.jpg")), "it is a page of somebody else")
    }
}
