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

    // MARK: - All work of a scan

    /// What a node has under the paths of files that were sent to it.
    enum Neighbour: CaseIterable { case nothing, another, same, sameUnasked }

    /// An image with weights, a mask and an image in which its sources are found, each in a file of its own.
    private func files() -> [String: [UInt8]] {
        func frame(_ seed: UInt64, _ change: (inout TestFrame) -> Void) -> [UInt8] {
            var frame = TestFrame(width: 400, height: 300, seed: seed)
            change(&frame)
            return frame.fits()
        }
        func stars(_ frame: inout TestFrame) {
            frame.addStars(40)
        }
        return [
            "sky.fits": frame(71, stars), "detection.fits": frame(72, stars),
            "weight.fits": frame(73) {
                for index in $0.pixels.indices { $0.pixels[index] = index % 400 < 200 ? 1 : 2 }
            },
            "mask.fits": frame(74) { for index in $0.pixels.indices { $0.pixels[index] = index < 4000 ? 1 : 0 } },
        ]
    }

    private func plan(_ image: ImageReference, _ engine: SkyEngine) throws -> ScanPhases {
        var configuration = ScanConfiguration()
        (configuration.meshSize, configuration.sectorSize, configuration.margin) = (64, 64, 16)
        if image.detection == nil { configuration.filter = .seeing }
        var request = SkyRequest(image: image, configuration: configuration)
        request.pictureSide = 200
        // They show what one image was measured on.
        if image.detection == nil { request.checkImages = [.segmentation, .background, .subtracted] }
        try request.validate()
        var plan = ScanPhases(request)
        var (count, number) = (plan.begin().newWork, 0)
        while number < count {
            let work = try #require(plan.work(number))
            let step = plan.completed(number, try work.perform(on: engine))
            if let error = step.abort { throw error }
            count += step.newWork
            number += 1
        }
        return plan
    }

    @Test(arguments: Neighbour.allCases, [false, true])
    func `all work of a scan reads the files that were sent, whatever a node has under their paths`(
        neighbour: Neighbour, isDual: Bool
    ) throws {
        let files = files()
        for (name, bytes) in files { _ = folder.write(bytes, name) }
        var image = ImageReference(path: folder.path + "/sky.fits", hdu: nil)
        var companions = Companions()
        companions.noise = Companions.Image(path: folder.path + "/weight.fits")
        companions.mask = Companions.Image(path: folder.path + "/mask.fits")
        companions.kind = .weight
        image.companions = companions
        if isDual { image.detection = DetectionImage(Companions.Image(path: folder.path + "/detection.fits")) }
        let own = try plan(image, SkyEngine())
        for (name, bytes) in files {
            let path = folder.path + "/" + name
            var content = try FileContent(of: path)
            content.identity = nil
            _ = inputs.write(bytes, HexText.of(content.digest))
            if neighbour != .sameUnasked { image.expect(content, at: path) }
            switch neighbour {
            case .nothing: unlink(path)
            case .another: _ = folder.write(frame(6), name)
            case .same, .sameUnasked: break
            }
        }
        let sent = try plan(image, engine())
        let sources = try #require(own.catalogue).sources
        #expect(sources.count > 20)
        #expect(sent.catalogue?.sources == sources)
        #expect(own.preview != nil && sent.preview?.pixels == own.preview?.pixels)
        #expect(
            (own.planes == nil) == isDual && sent.planes?.parts.map(\.subtracted) == own.planes?.parts.map(\.subtracted)
        )
    }

    @Test(arguments: Neighbour.allCases)
    func `two images that were sent are compared`(neighbour: Neighbour) throws {
        let engine = engine()
        var images: [CompareRequest.Image] = []
        for (name, seed) in [("new.fits", UInt64(5)), ("old.fits", 7)] {
            let bytes = frame(seed)
            var content = try FileContent(of: folder.write(bytes, name))
            if neighbour != .sameUnasked { content.identity = nil }
            _ = inputs.write(bytes, HexText.of(content.digest))
            let path = folder.path + "/" + name
            switch neighbour {
            case .nothing: unlink(path)
            case .another: _ = folder.write(frame(6), name)
            case .same, .sameUnasked: break
            }
            let reference = ImageReference(path: path, hdu: 0, content: content)
            let plan = try plan(ImageReference(path: path, hdu: 0, content: content), engine)
            images.append(CompareRequest.Image(reference: reference, background: try #require(plan.background)))
        }
        let rect = PixelRect(x: 0, y: 0, width: 200, height: 200)
        let all = (images[0].reference.contents + images[1].reference.contents)[...]
        for age in [SkyEngine.Age.new, .old] {
            let image = images[age == .new ? 0 : 1].reference
            let pixels = try engine.with(all) {
                try engine.image(image.path, image.hdu, image.layer, image.companions, age).read(rect).values
            }
            let own = try FITSImage(path: folder.write(frame(age == .new ? 5 : 7), "own"), hdu: nil).read(rect)
            #expect(pixels == own)
        }
    }
}
