import Base
import Fixtures
import Testing

@testable import Sky

@Suite struct TruthCatalogueTests {
    private func frame() -> SyntheticSky {
        var recipe = SkySynthesis()
        recipe.width = 64
        recipe.height = 48
        recipe.stars = 20
        recipe.galaxies = 5
        return recipe.render()
    }

    private func message(_ text: String) -> String {
        let folder = ScratchFolder()
        folder.put(text, in: "t.csv")
        do {
            _ = try TruthCatalogue.read(folder.file("t.csv"))
            return ""
        } catch {
            #expect(error.kind == .badInput)
            return error.message.replacing(folder.path + "/", with: "")
        }
    }

    @Test func `a frame is written with its truth beside it, and no other file`() throws {
        let folder = ScratchFolder()
        let frame = frame()
        let truthPath = try frame.write(to: folder.file("field.fits"))
        #expect(truthPath == folder.file("field_truth.csv"))
        #expect(folder.names == ["field.fits", "field_truth.csv"])
        let bytes = folder.bytes("field.fits")
        #expect(bytes.count % 2880 == 0)
        #expect(String(decoding: bytes.prefix(2880), as: UTF8.self).contains("CTYPE1  = 'RA---TAN'"))
    }

    @Test func `equal frames are equal bytes`() throws {
        let folder = ScratchFolder()
        try frame().write(to: folder.file("a.fits"))
        try frame().write(to: folder.file("b.fits"))
        #expect(folder.bytes("a.fits") == folder.bytes("b.fits"))
        #expect(folder.bytes("a_truth.csv") == folder.bytes("b_truth.csv"))
    }

    @Test func `names that cfitsio would take for a command are only names`() throws {
        let folder = ScratchFolder()
        for name in ["!a.fits", "b[1].fits", "c(d).fits", "e.fits.gz", " f.fits"] {
            try frame().write(to: folder.file(name))
            #expect(folder.bytes(name).starts(with: Array("SIMPLE".utf8)), "\(name)")
        }
        #expect(folder.names.count == 10)
    }

    @Test func `truth survives being written and read`() throws {
        let folder = ScratchFolder()
        let truth = frame().truth
        try TruthCatalogue.write(truth, to: folder.file("t.csv"))
        let read = try TruthCatalogue.read(folder.file("t.csv"))
        #expect(read.count == truth.count)
        for (a, b) in zip(read, truth) {
            #expect(a.kind == b.kind && a.sersicIndex == b.sersicIndex)
            #expect(abs(a.x - b.x) < 1e-4 && abs(a.y - b.y) < 1e-4)
            #expect(abs(a.alpha - b.alpha) < 1e-7 && abs(a.delta - b.delta) < 1e-7)
            #expect(abs(a.flux - b.flux) < 1e-3 && abs(a.radius - b.radius) < 1e-3)
        }
    }

    @Test func `movers, changing sources and blemishes survive too`() throws {
        let folder = ScratchFolder()
        var mover = TruthSource(
            kind: .mover, x: 1, y: 2, alpha: 3, delta: 4, magnitude: 5, flux: 6, signalToNoise: 7)
        (mover.id, mover.rate, mover.heading) = (12, 33.25, 271.5)
        var transient = TruthSource(
            kind: .transient, x: 1, y: 2, alpha: 3, delta: 4, magnitude: 5, flux: 6, signalToNoise: 7)
        (transient.id, transient.host) = (13, 4)
        var star = TruthSource(kind: .star, x: 1, y: 2, alpha: 3, delta: 4, magnitude: 5, flux: 6, signalToNoise: 7)
        (star.id, star.magnitudeChange) = (14, -0.75)
        var cosmic = TruthSource(
            kind: .cosmic, x: 1, y: 2, alpha: 3, delta: 4, magnitude: 5, flux: 6, signalToNoise: 7)
        (cosmic.length, cosmic.angle) = (9.5, 45)
        let truth = [mover, transient, star, cosmic]
        try TruthCatalogue.write(truth, to: folder.file("t.csv"))
        let read = try TruthCatalogue.read(folder.file("t.csv"))
        #expect(read == truth)
    }

    @Test func `a single frame has the same columns as before`() throws {
        let folder = ScratchFolder()
        try frame().write(to: folder.file("a.fits"))
        #expect(folder.text("a_truth.csv").hasPrefix("kind,x,y,ra,dec,mag,flux,snr,re,q,pa,n\n"))
        try TruthCatalogue.write([], to: folder.file("none.csv"))
        let none = try TruthCatalogue.read(folder.file("none.csv"))
        #expect(none.isEmpty)
    }

    @Test func `ids and hosts that are not numbers are read as 0`() throws {
        let folder = ScratchFolder()
        folder.put("kind,id,x,y,flux,snr,host\nstar,SDSS J1,1,2,3,4,-1\nstar,-7,1,2,3,4,5\n", in: "t.csv")
        let truth = try TruthCatalogue.read(folder.file("t.csv"))
        #expect(truth.map(\.id) == [0, 0])
        #expect(truth.map(\.host) == [0, 5])
    }

    @Test func `columns are found by name and others are passed over`() throws {
        let folder = ScratchFolder()
        folder.put("id,snr,flux,y,x,kind\r\n7,12.5,1e3,2,1,mover\r\n\r\n", in: "t.csv")
        let truth = try TruthCatalogue.read(folder.file("t.csv"))
        #expect(truth.count == 1)
        #expect(truth.first?.kind == .mover)
        #expect(truth.first?.x == 1 && truth.first?.signalToNoise == 12.5)
    }

    @Test func `a bad line is named with its number`() {
        let header = "kind,x,y,flux,snr\n"
        #expect(message("") == "t.csv:1: no column 'kind'; is it a truth file?")
        #expect(message("a,b\n1,2\n").hasPrefix("t.csv:1: no column"))
        #expect(message(header + "star,1,2,3\n") == "t.csv:2: 4 fields, the header has 5")
        #expect(message(header + "star,1,2,3,4\nstar,1,two,3,4\n") == "t.csv:3: y is 'two', not a number")
        #expect(message(header + "star,nan,2,3,4\n").contains("x is 'nan'"))
        #expect(message(header + "star,1e300,2,3,4\n").contains("not a number"))
        #expect(message(header + "comet,1,2,3,4\n").contains("kind 'comet'"))
        #expect(message(header + String(repeating: "9", count: 5000)).contains("t.csv:2: longer than 4096 bytes"))
        #expect(message("kind,x,y,flux,snr,n\nstar,1,2,3,4,-1e15\n") == "")
    }

    @Test func `a device, a folder or a missing file is refused`() {
        #expect(throws: SkyError.self) { try TruthCatalogue.read("/dev/zero") }
        #expect(throws: SkyError.self) { try TruthCatalogue.read("/tmp") }
        #expect(throws: SkyError.self) { try TruthCatalogue.read("/nowhere/t.csv") }
    }

    @Test func `a frame that cannot be written leaves nothing behind`() {
        let folder = ScratchFolder()
        #expect(throws: SkyError.self) { try frame().write(to: folder.file("no/field.fits")) }
        #expect(throws: SkyError.self) { try frame().write(to: folder.path) }
        #expect(folder.names == [])
    }
}
