import Base
import Fixtures
import Glibc
import Testing

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// Images that a command has sent to a node: they are read under their digest, and known by the command's path.
@Suite struct SentImageTests {
    let folder = TemporaryFolder()
    let inputs = TemporaryFolder()

    private func frame(_ seed: UInt64) -> [UInt8] {
        var frame = TestFrame(width: 300, height: 260, seed: seed)
        frame.addStars(10)
        return frame.fits()
    }

    private func engine() -> SkyEngine {
        SkyEngine(supply: NoSupply(), readFolders: [folder.path], inputs: inputs.path)
    }

    private struct NoSupply: ImageSupply {
        func image(_ file: PixelFile, holder: PixelHolder) throws(SkyError) -> any PixelSource {
            throw SkyError(.unavailable, "nobody has it")
        }
    }

    /// A frame that was sent, and the path that it has on the command's machine.
    private func sent() throws -> (image: ImageReference, bytes: [UInt8]) {
        let bytes = frame(5)
        var content = try FileContent(of: folder.write(bytes, "original"))
        unlink(folder.path + "/original")
        content.identity = nil
        _ = inputs.write(bytes, HexText.of(content.digest))
        return (ImageReference(path: folder.path + "/sky.fits", hdu: nil, content: content), bytes)
    }

    private func inspected(_ image: ImageReference, _ engine: SkyEngine) throws -> ImageInfo {
        guard case .inspected(let info) = try engine.perform(.inspect(image, withContent: false)) else {
            throw SkyError(.failed, "another answer")
        }
        return info
    }

    @Test(arguments: [false, true])
    func `a sent image is scanned whatever lies under its path, and has its digest`(hasOther: Bool) throws {
        let (image, bytes) = try sent()
        if hasOther { _ = folder.write(frame(6), "sky.fits") }
        let engine = engine()
        let info = try inspected(image, engine)
        #expect(info.content?.digest == image.content?.digest && info.content?.hexadecimal != nil)
        let content = try #require(info.content)
        let rect = PixelRect(x: 0, y: 0, width: 300, height: 260)
        let pixels = try engine.with(content, of: image.path) {
            try engine.pixels(path: image.path, hdu: nil, rect: rect)
        }
        let own = try FITSImage(path: folder.write(bytes, "own"), hdu: nil).read(rect)
        #expect(pixels == own)
        // Another node gets its parts, and an error names the command's path.
        let request = PixelRequest(
            file: PixelFile(path: image.path, content: content, hdu: nil), part: .header, holder: nil)
        #expect(try engine.part(request).readableBytes > 0)
        let wrong = #expect(throws: SkyError.self) {
            try engine.with(content, of: image.path) { try engine.pixels(path: image.path, hdu: 7, rect: rect) }
        }
        #expect(wrong?.message.contains("sky.fits") == true && wrong?.message.contains(inputs.path) == false)
    }

    @Test func `a node that was not sent the image does not take another one for it`() throws {
        let (image, bytes) = try sent()
        unlink(inputs.path + "/" + HexText.of(try #require(image.content).digest))
        #expect(throws: SkyError.self) { try inspected(image, engine()) }
        _ = folder.write(frame(6), "sky.fits")
        let refused = #expect(throws: SkyError.self) { try inspected(image, engine()) }
        #expect(refused?.kind == .unavailable && refused?.message.contains("not the file that the command has") == true)
        _ = folder.write(bytes, "sky.fits")
        #expect(try inspected(image, engine()).width == 300, "it is the same file")
    }

    @Test func `an image without a known digest is the one under its path`() throws {
        let (image, _) = try sent()
        _ = folder.write(frame(6), "sky.fits")
        let plain = ImageReference(path: image.path, hdu: nil)
        #expect(try inspected(plain, engine()).content?.digest != image.content?.digest)
    }
}
