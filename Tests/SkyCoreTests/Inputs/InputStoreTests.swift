import Base
import Cryptography
import Fixtures
import Glibc
import Logging
import NIOCore
import Testing

@testable import SkyCore

/// The files that commands have sent to a node, on the disk.
@Suite(.timeLimit(.minutes(1))) struct InputStoreTests {
    private let bytes = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

    private func store(_ folder: borrowing ScratchFolder, limit: Int = 1 << 30) throws -> InputStore {
        try #require(InputStore(in: folder.path, limit: limit, logger: Logger(label: "test")))
    }

    private func send(_ bytes: [UInt8], as digest: [UInt8], to store: InputStore) async throws -> Int {
        var next = try await store.put(InputPart(digest: digest, size: bytes.count), of: "alice", limit: nil)
        while next < bytes.count {
            let part = bytes[next..<min(bytes.count, next + InputPart.limit)]
            next = try await store.put(
                InputPart(digest: digest, size: bytes.count, offset: next, bytes: ByteBuffer(bytes: part)), of: "alice",
                limit: nil)
        }
        return next
    }

    @Test func `a file is there whole, under its digest, and for its owner only`() async throws {
        let folder = ScratchFolder()
        let store = try store(folder)
        let digest = SHA256.digest(of: bytes)
        #expect(try await send(bytes, as: digest, to: store) == bytes.count)
        let names = ScratchFolder.names(in: folder.file("inputs"))
        #expect(names.count == 1 && names[0].count == 64)
        var status = stat()
        #expect(stat(folder.file("inputs/\(names[0])"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(folder.file("inputs"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(folder.bytes("inputs/\(names[0])") == bytes)
        // A node that is started again knows it.
        let again = try self.store(folder)
        #expect(try await again.put(InputPart(digest: digest, size: bytes.count), of: "bob", limit: nil) == bytes.count)
        unlink(folder.file("inputs/\(names[0])"))
        rmdir(folder.file("inputs"))
    }

    @Test func `a file with other bytes than its digest says is not there`() async throws {
        let folder = ScratchFolder()
        let store = try store(folder)
        await #expect(throws: SkyError.self) { try await send(bytes, as: SHA256.digest(of: [1]), to: store) }
        #expect(ScratchFolder.names(in: folder.file("inputs")).isEmpty)
        rmdir(folder.file("inputs"))
    }

    @Test func `what is unfinished goes when the node is started, and nothing of somebody else`() async throws {
        let folder = ScratchFolder()
        mkdir(folder.file("inputs"), 0o700)
        folder.put("half", in: "inputs/0123456789abcdef.partial")
        folder.put("mine", in: "inputs/notes.txt")
        symlink("/etc/passwd", folder.file("inputs/" + String(repeating: "ab", count: 32)))
        let store = try store(folder)
        #expect(ScratchFolder.names(in: folder.file("inputs")) == [String(repeating: "ab", count: 32), "notes.txt"])
        let digest = [UInt8](repeating: 0xAB, count: 32)
        #expect(
            try await store.put(InputPart(digest: digest, size: 9), of: "alice", limit: nil) == 0, "a link is no file")
        for name in ScratchFolder.names(in: folder.file("inputs")) { unlink(folder.file("inputs/" + name)) }
        rmdir(folder.file("inputs"))
    }

    @Test func `what is removed has the digest that its name says`() async throws {
        let folder = ScratchFolder()
        mkdir(folder.file("inputs"), 0o700)
        let name = HexText.of(SHA256.digest(of: Array("sent".utf8)))
        let other = String(repeating: "ab", count: 32)
        folder.put("sent", in: "inputs/" + name)
        folder.put("mine", in: "inputs/" + other)
        var old = utimbuf(actime: 0, modtime: 0)
        for name in [name, other] { utime(folder.file("inputs/" + name), &old) }
        let store = try store(folder)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            while access(folder.file("inputs/" + name), F_OK) == 0 { await Task.yield() }
            group.cancelAll()
        }
        #expect(ScratchFolder.names(in: folder.file("inputs")) == [other])
        unlink(folder.file("inputs/" + other))
        rmdir(folder.file("inputs"))
    }

    @Test func `a person sends no more than their limit, and a node takes no more than its own`() async throws {
        let folder = ScratchFolder()
        let store = try store(folder, limit: 1000)
        let part = InputPart(digest: [UInt8](repeating: 1, count: 32), size: 501)
        await #expect(throws: SkyError.self) { try await store.put(part, of: "alice", limit: nil) }
        let small = InputPart(digest: [UInt8](repeating: 1, count: 32), size: 500)
        await #expect(throws: SkyError.self) { try await store.put(small, of: "alice", limit: 499) }
        #expect(try await store.put(small, of: "alice", limit: 500) == 0)
        for name in ScratchFolder.names(in: folder.file("inputs")) { unlink(folder.file("inputs/" + name)) }
        rmdir(folder.file("inputs"))
    }

    @Test(arguments: [
        InputPart(digest: [1], size: 1), InputPart(digest: [UInt8](repeating: 1, count: 32), size: 0),
        InputPart(digest: [UInt8](repeating: 1, count: 32), size: .max),
        InputPart(digest: [UInt8](repeating: 1, count: 32), size: 9, offset: -1),
        InputPart(digest: [UInt8](repeating: 1, count: 32), size: 9, offset: .max, bytes: ByteBuffer(bytes: [1])),
        InputPart(digest: [UInt8](repeating: 1, count: 32), size: 9, offset: 9, bytes: ByteBuffer(bytes: [1])),
        InputPart(
            digest: [UInt8](repeating: 1, count: 32), size: 1 << 30, bytes: ByteBuffer(repeating: 0, count: 1 << 20)),
    ])
    func `a part that makes no sense is refused`(part: InputPart) {
        #expect(part.objection != nil)
    }
}
