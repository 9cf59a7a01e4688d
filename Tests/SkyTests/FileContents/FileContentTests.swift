import Base
import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct FileContentTests {
    let folder = TemporaryFolder()

    @Test func `digests are those of earlier versions, which hold images under them`() throws {
        let path = folder.write((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }, "file")
        #expect(
            try FileContent(of: path).hexadecimal == "117515f5082ec37224df5959790895686a33beb5c9328d0a24bc0495ad5ad324")
        #expect(
            HexText.of(try FileContent(of: path, sampled: true).digest)
                == "fc2de3e406d7550ee6545d25127299d1e728d1f48fbd07bff26bb1cec40ceb93")
    }

    @Test func `the digest is SHA-256 of all bytes`() throws {
        let content = try FileContent(of: folder.write(Array("abc".utf8), "abc"))
        // FIPS 180-2, appendix B.1.
        #expect(content.digest.prefix(4) == [0xba, 0x78, 0x16, 0xbf] && content.size == 3)
        let long = try FileContent(of: folder.write([UInt8](repeating: 7, count: 3 << 20), "long"))
        #expect(long.size == 3 << 20 && long.digest != content.digest)
    }

    @Test func `a file that is rewritten with the same content is still accepted`() throws {
        let path = folder.write(Array("the same".utf8), "image")
        let content = try FileContent(of: path)
        let engine = SkyEngine()
        #expect(try engine.with(content, of: path) { 7 } == 7)
        try setTime(of: path, to: 1_000_000)
        try engine.with(content, of: path) {}
        try SkyEngine().with(content, of: path) {}
    }

    @Test(arguments: [false, true], [false, true])
    func `a file that is rewritten in place ends its job, even with the same size and time`(
        isSample: Bool, restoresTime: Bool
    ) throws {
        // The middle is not among the blocks of a sample.
        var bytes = [UInt8](repeating: 3, count: 8 << 20)
        let path = folder.write(bytes, "image")
        let content = try FileContent(of: path, sampled: isSample)
        let (early, late) = (SkyEngine(), SkyEngine())
        try early.with(content, of: path) {}
        bytes[5 << 20] = 4
        try rewrite(path, bytes, restoringTime: restoresTime ? content : nil)
        #expect(try FileContent(of: path, sampled: true).digest == FileContent(of: path, sampled: true).digest)
        for engine in [early, early, late] {
            let error = #expect(throws: SkyError.self) { try engine.with(content, of: path) {} }
            #expect(error?.kind == .badInput && error?.message.contains("changed while it was scanned") == true)
        }
        // Another job, which expects the new content, is accepted.
        try early.with(FileContent(of: path, sampled: isSample), of: path) {}
    }

    @Test func `a file that was never the right one here is left to other nodes`() throws {
        let (path, other) = (
            folder.write(Array("the same".utf8), "image"), folder.write(Array("another!".utf8), "other")
        )
        let content = try elsewhere(FileContent(of: path))
        try setTime(of: other, to: 2_000_000)
        let engine = SkyEngine()
        let error = #expect(throws: SkyError.self) { try engine.with(content, of: other) {} }
        #expect(error?.kind == .unavailable && error?.message.contains("not the file that was looked at first") == true)
        // A copy of it, whatever its time, is as good; and once that is another one, it has changed.
        try setTime(of: path, to: 1_000_000)
        try engine.with(content, of: path) {}
        try rewrite(path, Array("CHANGED!".utf8))
        let changed = #expect(throws: SkyError.self) { try engine.with(content, of: path) {} }
        #expect(changed?.kind == .badInput)
        #expect(throws: SkyError.self) { try engine.with(content, of: path) {} }
    }

    @Test func `with a sampled digest another machine accepts only a copy with the same size and time`() throws {
        let path = folder.write([UInt8](repeating: 1, count: 100_000), "image")
        let content = try elsewhere(FileContent(of: path, sampled: true))
        try SkyEngine().with(content, of: path) {}
        try setTime(of: path, to: 1_000_000)
        let error = #expect(throws: SkyError.self) { try SkyEngine().with(content, of: path) {} }
        #expect(error?.kind == .unavailable)
    }

    @Test func `a rewritten server file with its old time is noticed on another machine`() throws {
        let path = folder.write([UInt8](repeating: 1, count: 100_000), "image")
        for isSample in [false, true] {
            let content = try FileContent(of: path, sampled: isSample)
            var there = content
            there.identity?.place ^= 1
            try rewrite(path, [UInt8](repeating: isSample ? 5 : 4, count: 100_000), restoringTime: content)
            let error = #expect(throws: SkyError.self) { try SkyEngine().with(there, of: path) {} }
            #expect(error?.kind == .unavailable)
        }
    }

    @Test func `a file that changes during work gives no result, and no retry`() throws {
        for isSame in [false, true] {
            let path = folder.write(Array("before it".utf8), "image")
            let content = try FileContent(of: path)
            let error = #expect(throws: SkyError.self) {
                try SkyEngine().with(content, of: path) {
                    try rewrite(path, Array((isSame ? "before it" : "behind it").utf8), restoringTime: content)
                }
            }
            #expect(error?.kind == (isSame ? .failed : .badInput), "\(error?.message ?? "")")
        }
        let path = folder.write(Array("before it".utf8), "image")
        let content = try FileContent(of: path)
        let error = #expect(throws: SkyError.self) {
            try SkyEngine().with(content, of: path) {
                try rewrite(path, Array("behind".utf8))
                throw SkyError(.failed, "it looks damaged")
            }
        }
        #expect(error?.kind == .badInput && error?.message.contains("changed while") == true, "the true reason")
    }

    @Test func `a missing file is unavailable, and a pipe or a device does not block`() {
        for path in ["/nonexistent/file", "/dev/zero", "/tmp"] {
            let error = #expect(throws: SkyError.self) { _ = try FileContent(of: path) }
            #expect(error?.kind == .unavailable)
        }
        let fifo = folder.path + "/fifo"
        #expect(mkfifo(fifo, 0o600) == 0)
        #expect(throws: SkyError.self) { _ = try FileContent(of: fifo) }
        #expect(throws: SkyError.self) {
            try SkyEngine().with(.unknown, of: fifo) { _ = try FITSImage(path: fifo, hdu: nil) }
        }
    }

    @Test func `the digest of a file that was touched after the scan is not the scanned one's`() throws {
        let path = folder.write([UInt8](repeating: 1, count: 100_000), "image")
        let scanned = try FileContent(of: path, sampled: true)
        #expect(try scanned.isOfSameFile(as: FileContent(of: path)))
        #expect(try elsewhere(scanned).isOfSameFile(as: FileContent(of: path)), "another machine's numbers say nothing")
        try rewrite(path, [UInt8](repeating: 2, count: 100_000), restoringTime: scanned)
        #expect(try !scanned.isOfSameFile(as: FileContent(of: path)))
        try rewrite(path, [UInt8](repeating: 2, count: 100_001))
        #expect(try !elsewhere(scanned).isOfSameFile(as: FileContent(of: path)))
    }

    @Test func `reading a file through can be limited in time`() throws {
        let path = folder.write([UInt8](repeating: 1, count: 3 << 20), "image")
        let error = #expect(throws: SkyError.self) { _ = try FileContent(of: path, within: .zero) }
        #expect(error?.kind == .unavailable && error?.message.contains("too long") == true)
    }

    // MARK: -

    /// As another machine would have looked at it.
    private func elsewhere(_ content: FileContent) -> FileContent {
        var content = content
        content.identity?.place ^= 1
        content.identity?.inode ^= 1 << 40
        return content
    }

    private func setTime(of path: String, to seconds: Int, _ nanoseconds: Int = 0) throws {
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        try #require(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
    }

    /// Writes over it, until the file system's clock has moved on: it ticks every few milliseconds.
    private func rewrite(_ path: String, _ bytes: [UInt8], restoringTime content: FileContent? = nil) throws {
        let before = try FileStamp(of: path)
        repeat {
            let descriptor = open(path, O_WRONLY)
            try #require(bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count)
            ftruncate(descriptor, bytes.count)
            close(descriptor)
            if let content {
                try setTime(of: path, to: content.modified / 1_000_000_000, content.modified % 1_000_000_000)
            }
        } while try FileStamp(of: path).identity.changed == before.identity.changed
    }
}
