import Glibc
import Testing

@testable import SkyCore

@Suite struct FileContentTests {
    let folder = TemporaryFolder()

    @Test func `the digest is SHA-256 of all bytes`() throws {
        let content = try FileContent(of: folder.write(Array("abc".utf8), "abc"))
        // FIPS 180-2, appendix B.1.
        #expect(content.digest.prefix(4) == [0xba, 0x78, 0x16, 0xbf] && content.size == 3)
        let long = try FileContent(of: folder.write([UInt8](repeating: 7, count: 3 << 20), "long"))
        #expect(long.size == 3 << 20 && long.digest != content.digest)
    }

    @Test func `a file that holds something else is refused, a copy with another time is not`() throws {
        let path = folder.write(Array("the same".utf8), "image")
        let content = try FileContent(of: path)
        let engine = SkyEngine()
        #expect(try engine.with(content, of: path) { 7 } == 7)
        var times = [timeval(tv_sec: 1_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000, tv_usec: 0)]
        #expect(utimes(path, &times) == 0)
        try engine.with(content, of: path) {}
        _ = folder.write(Array("changed!".utf8), "image")
        let error = #expect(throws: SkyError.self) { try engine.with(content, of: path) {} }
        #expect(error?.kind == .unavailable && error?.message.contains("not the file that was looked at first") == true)
        #expect(throws: SkyError.self) { try engine.with(content, of: path) {} }
    }

    @Test func `a file that changes while it is worked on gives no result`() throws {
        let path = folder.write(Array("before".utf8), "image")
        let content = try FileContent(of: path)
        let error = #expect(throws: SkyError.self) {
            try SkyEngine().with(content, of: path) { _ = folder.write(Array("behind it".utf8), "image") }
        }
        #expect(error?.kind == .failed && error?.message.contains("changed while it was read") == true)
    }

    @Test func `a file that is not there is out of reach`() {
        let error = #expect(throws: SkyError.self) { _ = try FileContent(of: "/nonexistent/file") }
        #expect(error?.kind == .unavailable)
    }
}
