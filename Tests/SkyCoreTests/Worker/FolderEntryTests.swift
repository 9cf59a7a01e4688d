import Fixtures
import Glibc
import Testing

@testable import Base

struct FolderEntryTests {
    @Test func `a record at the end of the memory is read up to the end of its name`() throws {
        let page = sysconf(Int32(_SC_PAGESIZE))
        let memory = try #require(
            mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        try #require(memory != MAP_FAILED)
        defer { munmap(memory, 2 * page) }
        // Whoever reads on from here ends the process.
        try #require(mprotect(memory + page, page, PROT_NONE) == 0)
        let name = Array("frame.fits".utf8)
        let (typePlace, namePlace) = (
            try #require(MemoryLayout<dirent>.offset(of: \.d_type)),
            try #require(MemoryLayout<dirent>.offset(of: \.d_name))
        )
        let length = (namePlace + name.count + 1 + 7) / 8 * 8
        let record = memory + page - length
        record.storeBytes(of: UInt8(8), toByteOffset: typePlace, as: UInt8.self)
        (record + namePlace).copyMemory(from: name, byteCount: name.count)
        let entry = FolderEntry(UnsafePointer(record.assumingMemoryBound(to: dirent.self)))
        #expect(entry.name == name && entry.type == 8 && entry.text == "frame.fits")
    }

    @Test func `all entries of a folder are read, also names that are not text, and none of what is not there`() throws
    {
        let folder = ScratchFolder()
        let odd: [UInt8] = [0x61, 0xe9, 0x62]
        let path = Array(folder.path.utf8) + [47] + odd + [0]
        let descriptor = path.withUnsafeBytes { bytes in
            open(bytes.baseAddress!.assumingMemoryBound(to: CChar.self), O_WRONLY | O_CREAT, 0o600)
        }
        try #require(descriptor >= 0)
        close(descriptor)
        // More than one buffer of the C library.
        let names = (0..<1500).map { "frame\($0)" + String(repeating: "x", count: $0 % 100) }
        for name in names { folder.put("", in: name) }
        let entries = try #require(FolderEntry.all(in: folder.path))
        #expect(Set(entries.map(\.name)) == Set(names.map { Array($0.utf8) } + [odd]))
        #expect(entries.count == 1501)
        #expect(FolderEntry.all(in: folder.path + "/none") == nil)
        path.withUnsafeBytes { _ = unlink($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
    }
}
