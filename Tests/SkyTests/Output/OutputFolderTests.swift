import Base
import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct OutputFolderTests {
    @Test func `a folder is made with its parents and left empty`() throws {
        let folder = ScratchFolder()
        try OutputFolder.prepare(folder.file("out"))
        try OutputFolder.prepare(folder.file("out"))
        #expect(ScratchFolder.names(in: folder.file("out")) == [])
        let deep = folder.file("a/b//c/")
        try OutputFolder.prepare(deep)
        #expect(ScratchFolder.names(in: folder.file("a")) == ["b"])
        #expect(ScratchFolder.names(in: folder.file("a/b/c")) == [])
        rmdir(folder.file("a/b/c"))
        rmdir(folder.file("a/b"))
    }

    @Test func `a path that cannot be a folder is refused, and nothing is left behind`() {
        let folder = ScratchFolder()
        folder.put("", in: "file")
        #expect(throws: SkyError(.badInput, "\(folder.path)/file: is a file; name a folder for the output")) {
            try OutputFolder.prepare(folder.file("file"))
        }
        #expect(throws: SkyError.self) { try OutputFolder.prepare(folder.file("file/out")) }
        #expect(throws: SkyError.self) {
            try OutputFolder.prepare(folder.file("new/" + String(repeating: "n", count: 300)))
        }
        #expect(throws: SkyError.self) { try OutputFolder.prepare("/proc/skynode-out") }
        #expect(throws: SkyError.self) { try OutputFolder.prepare("") }
        #expect(folder.names == ["file"])
    }
}
