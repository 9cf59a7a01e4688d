import Fixtures
import Glibc
import Sky
import Testing

@testable import SkyNode

/// Which images a command line means, and what their paths and names are.
struct ImageListTests {
    private func put(_ names: [String], in folder: borrowing ScratchFolder) {
        for name in names { folder.put("x", in: name) }
    }

    private func complaint(_ arguments: [String]) -> String? {
        do {
            _ = try ImageList(arguments)
            return nil
        } catch {
            return (error as? CommandFailure)?.message
        }
    }

    @Test func `a folder means its FITS files, ordered by name`() throws {
        let folder = ScratchFolder()
        put(["b.fits", "a.FIT.gz", "c.fts.fz", ".hidden.fits", "notes.txt", "d.fits.txt"], in: folder)
        let list = try ImageList([folder.path])
        #expect(list.images.map(\.name) == ["a.FIT.gz", "b.fits", "c.fts.fz"].map { folder.path + "/" + $0 })
        #expect(list.refusals.isEmpty)
    }

    @Test func `an unexpanded pattern means the files that it matches`() throws {
        let folder = ScratchFolder()
        put(["a1.fits", "a2.fits", "b1.fits"], in: folder)
        #expect(
            try ImageList([folder.file("a*.fits")]).images.map(\.name) == [
                folder.file("a1.fits"), folder.file("a2.fits"),
            ])
        let (pattern, path) = (folder.file("c*.fits"), folder.path)
        #expect(complaint([pattern]) == "\(pattern): no file has such a name")
        #expect(complaint([path + "/a1.fits", path]) == nil)
    }

    @Test func `a folder without images is an error at once, and a missing file is one later`() throws {
        let folder = ScratchFolder()
        put(["notes.txt"], in: folder)
        let path = folder.path
        #expect(complaint([path]) == "\(path): a folder without FITS images")
        #expect(try ImageList(["/nonexistent/a.fits"]).images.map(\.path) == ["/nonexistent/a.fits"])
    }

    @Test func `a file that is named twice is scanned once, whatever its paths`() throws {
        let folder = ScratchFolder()
        put(["a.fits"], in: folder)
        symlink(folder.file("a.fits"), folder.file("link.fits"))
        let list = try ImageList([
            folder.file("a.fits"), folder.file("link.fits"), folder.path, folder.path + "/./a.fits",
        ])
        #expect(list.images.map(\.name) == [folder.file("a.fits")])
        #expect(list.images.first?.path == ImagePath.resolved(folder.file("link.fits")))
    }

    @Test func `a name that is not valid text is refused once, and the others are listed`() throws {
        let folder = ScratchFolder()
        put(["a.fits"], in: folder)
        let bytes = Array(folder.path.utf8) + Array("/caf".utf8) + [0xE9] + Array(".fits".utf8) + [0]
        let isMade = bytes.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { name in
                guard let start = name.baseAddress else { return false }
                return close(open(start, O_WRONLY | O_CREAT, 0o600)) == 0
            }
        }
        defer { bytes.withUnsafeBufferPointer { $0.withMemoryRebound(to: CChar.self) { _ = unlink($0.baseAddress!) } } }
        try #require(isMade)
        let list = try ImageList([folder.path, folder.path])
        #expect(list.images.map(\.name) == [folder.file("a.fits")])
        #expect(list.refusals.count == 1)
        #expect(list.refusals.first?.message.hasPrefix(folder.path + #"/caf\xe9.fits: its name is not UTF-8"#) == true)
    }

    // MARK: - Names

    @Test(arguments: [
        ("/n/a.fits", "a"), ("a.FITS.GZ", "a"), ("a.fit.fz", "a"), ("b.fts", "b"), (".fits", ".fits"), ("c", "c"),
        ("x.fits.fits", "x.fits"), ("/", "image"), ("a.fits/", "a"),
    ])
    func `results are named after their image`(path: String, stem: String) {
        #expect(ImageName.stem(path) == stem)
    }

    @Test func `the planes and colours of one image have separate names`() {
        func stem(_ layer: ImageLayer) -> String {
            ImageReference(path: "/d/a.fits", hdu: nil, layer: layer).stem
        }
        #expect(stem(ImageLayer()) == "a" && stem(ImageLayer(plane: 2)) == "a-plane2")
        #expect(stem(ImageLayer(plane: 2, bayer: BayerGrid(.rggb, .greenOfRed))) == "a-plane2-G1")
    }

    @Test func `a path is resolved, and a file that is not an image is refused`() throws {
        let folder = ScratchFolder()
        folder.put("SIMPLE  = " + String(repeating: " ", count: 2870), in: "a.fits")
        folder.put("<!DOCTYPE html>", in: "page.fits")
        symlink(folder.file("a.fits"), folder.file("link"))
        #expect(try ImagePath.checked(folder.file("link")) == ImagePath.resolved(folder.file("a.fits")))
        #expect(ImagePath.resolved(folder.file("none")) == nil)
        let path = folder.path
        for name in ["page.fits", "none.fits"] {
            #expect(throws: (any Error).self, "\(name)") { try ImagePath.checked(path + "/" + name) }
        }
    }

    @Test func `bytes that are not text are escaped as in a shell`() {
        #expect(FolderNames.escaped(Array("café".utf8)) == "café")
        #expect(FolderNames.escaped([0x61, 0xE9, 0x2E, 0x0F]) == "a\\xe9.\u{0F}")
        #expect(FolderNames.escaped([0xC3]) == "\\xc3" && FolderNames.escaped([]) == "")
        let name = FolderNames.Name(bytes: [0x61, 0xFF])
        #expect(!name.isText && name.text == "a\u{FFFD}" && name.escaped == "a\\xff")
        #expect(FolderNames.Name(bytes: Array("a".utf8)).isText)
        #expect(FolderNames.of("/nonexistent").isEmpty)
        #expect(ArgumentBytes.escaped("an argument that is text").isEmpty)
    }
}
