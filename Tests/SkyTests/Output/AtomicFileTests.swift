import Base
import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct AtomicFileTests {
    @Test func `a file is replaced as a whole and no temporary stays`() throws {
        let folder = ScratchFolder()
        try AtomicFile.write(Array("first".utf8), to: folder.file("a"), as: .own)
        try AtomicFile.write(Array("second".utf8), to: folder.file("a"), as: .own)
        try AtomicFile.write([], to: folder.file("empty"), as: .own)
        #expect(folder.names == ["a", "empty"])
        #expect(folder.text("a") == "second")
        #expect(folder.bytes("empty") == [])
    }

    @Test(arguments: [0o600, 0o664, 0o444] as [mode_t])
    func `a file has the rights of the one that it replaces`(mode: mode_t) throws {
        let folder = ScratchFolder()
        folder.put("first", in: "a")
        chmod(folder.file("a"), mode)
        try AtomicFile.write(Array("second".utf8), to: folder.file("a"), as: .own, overwrites: true)
        var status = stat()
        #expect(lstat(folder.file("a"), &status) == 0 && status.st_mode & 0o777 == mode)
        #expect(folder.text("a") == "second")
    }

    @Test func `the error has the reason`() {
        let folder = ScratchFolder()
        folder.put("", in: "file")
        func message(_ path: String) -> String {
            do {
                try AtomicFile.write([1], to: path, as: .own)
                return ""
            } catch {
                #expect(error.kind == .badInput)
                return error.message
            }
        }
        #expect(message(folder.path) == "\(folder.path): cannot be written: it is a folder, not a file")
        #expect(message(folder.file("no/a")) == "\(folder.path)/no/a: cannot be written: its folder does not exist")
        #expect(message(folder.file("file/a")).hasSuffix("a part of its path is a file, not a folder"))
        #expect(message(folder.file("a/")).hasSuffix("it is a folder, not a file"))
        #expect(message("") == "an empty name cannot be written")
        #expect(message(folder.file(String(repeating: "n", count: 300))).contains("File name too long"))
        #expect(folder.names == ["file"])
    }

    @Test func `a full disk counts as a failure, and not as bad input`() {
        let error = SkyError.notWritten("a.csv", errno: ENOSPC)
        #expect(error == SkyError(.failed, "a.csv: cannot be written: the disk is full"))
    }
}

extension OutputKind {
    /// A file of tests, which is told by nothing.
    static let own = OutputKind("test file") { _ in true }
}
