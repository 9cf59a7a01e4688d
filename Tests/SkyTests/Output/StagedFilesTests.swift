import Base
import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct StagedFilesTests {
    @Test func `files take their places together`() throws {
        let folder = ScratchFolder()
        folder.put("old", in: "a")
        let files = StagedFiles()
        try files.write(Array("new".utf8), to: folder.file("a"))
        try files.write(Array("other".utf8), to: folder.file("b"))
        #expect(folder.text("a") == "old")
        #expect(!folder.names.contains("b"))
        try files.place()
        #expect(folder.names == ["a", "b"])
        #expect(folder.text("a") == "new" && folder.text("b") == "other")
    }

    @Test func `an error in the middle keeps the old file and removes the new one`() throws {
        let folder = ScratchFolder()
        folder.put("old", in: "a")
        let files = StagedFiles()
        #expect(throws: SkyError(.failed, "no more")) {
            try files.write(to: folder.file("a")) { temporary throws(SkyError) in
                try AtomicFile.write(Array("new".utf8), to: temporary)
                throw SkyError(.failed, "no more")
            }
        }
        try files.place()
        #expect(folder.names == ["a"])
        #expect(folder.text("a") == "old")
    }

    @Test func `files that are not placed are removed`() throws {
        let folder = ScratchFolder()
        do {
            let files = StagedFiles()
            try files.write([1], to: folder.file("a"))
            #expect(folder.names.count == 1)
        }
        #expect(folder.names == [])
    }

    @Test func `a file that cannot be placed does not hold up the others`() throws {
        let folder = ScratchFolder()
        let files = StagedFiles()
        try files.write([1], to: folder.file("a"))
        try files.write([2], to: folder.file("taken"))
        try files.write([3], to: folder.file("c"))
        #expect(mkdir(folder.file("taken"), 0o755) == 0)
        #expect(throws: SkyError(.badInput, "\(folder.file("taken")): cannot be written: it is a folder, not a file")) {
            try files.place()
        }
        #expect(folder.names == ["a", "c", "taken"])
    }
}
