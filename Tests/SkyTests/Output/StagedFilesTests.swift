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
        try files.write(Array("new".utf8), to: folder.file("a"), as: .own)
        try files.write(Array("other".utf8), to: folder.file("b"), as: .own)
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
            try files.write(to: folder.file("a"), as: .own) { temporary throws(SkyError) in
                close(open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o600))
            } writing: { () throws(SkyError) in
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
            try files.write([1], to: folder.file("a"), as: .own)
            #expect(folder.names.count == 1)
        }
        #expect(folder.names == [])
    }

    /// What the folder holds, in one text.
    private func contents(_ folder: borrowing ScratchFolder) -> [String] {
        folder.names.map { "\($0)=\(folder.text($0))" }
    }

    @Test func `if one file cannot be placed none is, and the old ones are back`() throws {
        let folder = ScratchFolder()
        folder.put("old", in: "a")
        let files = StagedFiles()
        for name in ["a", "b", "taken", "c"] {
            try files.write(Array("new".utf8), to: folder.file(name), as: .own)
        }
        #expect(mkdir(folder.file("taken"), 0o755) == 0)
        #expect(throws: SkyError(.badInput, "\(folder.file("taken")): cannot be written: it is a folder, not a file")) {
            try files.place()
        }
        #expect(contents(folder) == ["a=old", "taken="], "and no temporary")
    }

    // MARK: - Files of somebody else

    private static let strict = OutputKind("list", beginsWith: "mine")

    @Test func `only what the program has made is replaced, unless the user says so`() throws {
        let folder = ScratchFolder()
        folder.put("theirs", in: "foreign")
        folder.put("mine, older", in: "own")
        folder.put("mine, older", in: "locked")
        folder.put("", in: "empty")
        #expect(chmod(folder.file("locked"), 0o444) == 0)
        #expect(symlink("own", folder.file("link")) == 0 && symlink("nowhere", folder.file("dangling")) == 0)
        #expect(mkfifo(folder.file("pipe"), 0o644) == 0)
        func write(_ name: String, overwrites: Bool = false) -> String? {
            do {
                try AtomicFile.write(
                    Array("mine".utf8), to: folder.file(name), as: Self.strict, overwrites: overwrites)
                return nil
            } catch {
                return error.message
            }
        }
        let unless = "it is not overwritten without --overwrite"
        #expect(write("own") == nil && write("empty") == nil && write("new") == nil)
        #expect(
            write("foreign") == "\(folder.file("foreign")): is not a list that this program has written; \(unless)")
        #expect(write("locked") == "\(folder.file("locked")): is read-only; \(unless)")
        for name in ["link", "dangling"] {
            #expect(write(name) == "\(folder.file(name)): is a symbolic link; \(unless)")
        }
        for overwrites in [false, true] {
            #expect(
                write("pipe", overwrites: overwrites)?.hasSuffix("is not a regular file and is not overwritten") == true
            )
        }
        #expect(folder.text("foreign") == "theirs" && folder.text("locked") == "mine, older")
        for name in ["foreign", "locked", "link", "dangling"] { #expect(write(name, overwrites: true) == nil) }
        #expect(folder.text("foreign") == "mine" && folder.text("locked") == "mine" && folder.text("link") == "mine")
        #expect(
            folder.names == ["dangling", "empty", "foreign", "link", "locked", "new", "own", "pipe"], "and no temporary"
        )
        unlink(folder.file("pipe"))
    }

    @Test func `a file that somebody puts there in between is not replaced`() throws {
        let folder = ScratchFolder()
        folder.put("mine, older", in: "b")
        let files = StagedFiles()
        for name in ["a", "b"] { try files.write(Array("mine".utf8), to: folder.file(name), as: Self.strict) }
        folder.put("theirs", in: "b")
        #expect(throws: SkyError.self) { try files.place() }
        #expect(contents(folder) == ["b=theirs"])
    }
}
